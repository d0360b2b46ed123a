import { expect, test } from "vitest";
import { keptSteps } from "./draft-steps.ts";

const OLD = {
  steps: [
    { id: "a", tool: "x", arguments: { p: 1, q: 2 } },
    { id: "b", tool: "y", arguments: { from: "<<a>>" } },
    { id: "c", tool: "z", arguments: {} },
  ],
};
const ALL = new Set(["a", "b", "c"]);

/** The old plan with other fields of one step. */
function changed(id: string, fields: object) {
  return { steps: OLD.steps.map((step) => (step.id === id ? { ...step, ...fields } : step)) };
}

test("completed and unchanged steps are kept, whatever the order of their fields", () => {
  expect(keptSteps(OLD, changed("a", { arguments: { q: 2, p: 1 } }), ALL)).toEqual(ALL);
  expect(keptSteps(OLD, OLD, new Set(["a", "c"]))).toEqual(new Set(["a", "c"]));
});

test("a changed step is not kept, and neither are the steps that depend on it", () => {
  expect(keptSteps(OLD, changed("a", { arguments: { p: 2 } }), ALL)).toEqual(new Set(["c"]));
});

test("a step in a cycle is not kept, and the cycle does not hang the search", () => {
  const cycle = changed("a", { arguments: { p: "<<b>>" } });
  expect(keptSteps(cycle, cycle, ALL)).toEqual(new Set(["c"]));
});
