import { expect, test } from "vitest";
import { draftSteps } from "./draft-steps.ts";

test("a step depends on the steps in dependsOn and on those that its references name", () => {
  const steps = draftSteps({
    steps: [
      { id: "a", tool: "x" },
      { id: "b", forEach: { items: "<<a.list>>", do: { tool: "y", arguments: {} } } },
      {
        id: "c",
        tool: "z",
        arguments: { text: "{{b.results}} and <<missing>> and <<c>>" },
        dependsOn: ["a"],
      },
    ],
  });
  expect(steps).toEqual([
    { id: "a", tool: "x", isList: false, dependsOn: [] },
    { id: "b", tool: "y", isList: true, dependsOn: ["a"] },
    { id: "c", tool: "z", isList: false, dependsOn: ["a", "b"] },
  ]);
});

test.each([null, [], "text", { steps: 1 }, { steps: [null, 1, { id: 2 }, {}] }])(
  "%j has no steps that can be drawn",
  (document) => {
    expect(draftSteps(document)).toEqual([]);
  },
);
