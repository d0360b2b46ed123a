import type { Diagnostic, Plan } from "@planwright/plan";
import { expect, test } from "vitest";
import { afterDoubt, orDoubted } from "./next-node.ts";

const plan = { steps: [] as Plan["steps"] } as Plan;
const unseen = (observedIn?: number): Diagnostic => ({
  code: "REFERENCE_FIELD_UNKNOWN",
  severity: "warning",
  message: "m",
  observedIn,
});
const before = { doubted: null, repairs: 0, answer: null };
const checked = (observedIn?: number) => ({ plan, diagnostics: [unseen(observedIn)] });
const doubted = { plan, diagnostics: [unseen(3)], answer: null };

test("a plan with a field that many outputs did not have is kept, and a repair is requested", () => {
  expect(afterDoubt(before, checked(3), "model")).toMatchObject({ plan: null, doubted: { plan } });
});

test.each([
  ["a list that never was one", { ...unseen(3), code: "FOREACH_ITEMS_NOT_LIST" }, null],
  [
    "a complete output where a field fits",
    { ...unseen(3), code: "REFERENCE_TYPE", suggestion: "<<f.id>>" },
    null,
  ],
  ["a complete output as a text", { ...unseen(3), code: "REFERENCE_TYPE" }, plan],
] as const)("%s is in doubt, or may be intended", (_, diagnostic, used) => {
  const update = { plan, diagnostics: [diagnostic] };
  expect(afterDoubt(before, update, "model").plan).toBe(used);
});

test.each([
  ["few outputs contradict it", before, checked(2), "model"],
  ["no output contradicts it", before, checked(), "model"],
  ["it was reported before", { ...before, repairs: 1 }, checked(9), "model"],
  ["the offline drafter made it", before, checked(9), "offline"],
] as const)("a plan is used unchanged when %s", (_, state, update, kind) => {
  expect(afterDoubt(state, { ...update }, kind)).toEqual(update);
});

test("a new doubt that a repair reveals is also reported to the model, while repairs are left", () => {
  const items = { ...unseen(3), path: "steps[1].forEach.items" };
  const item = { ...unseen(3), path: "steps[1].forEach.do.arguments.id" };
  const after = (repairs: number) =>
    afterDoubt(
      { ...before, doubted: { plan, diagnostics: [items], answer: null }, repairs },
      { plan, diagnostics: [item] },
      "model",
    );
  expect(after(1)).toMatchObject({ plan: null, earlierDiagnostics: null, doubted: { diagnostics: [item] } });
  expect(after(2)).toMatchObject({ plan });
});

test("a repair that can run is used, even with fields that no output had", () => {
  expect(afterDoubt({ ...before, doubted, repairs: 1 }, checked(9), "model")).toEqual(checked(9));
});

test("after a repair that cannot run, or that failed, the first plan is used", () => {
  const broken = { plan: null, diagnostics: [] };
  expect(afterDoubt({ ...before, doubted, repairs: 1 }, broken, "model")).toMatchObject({
    plan,
    failure: null,
  });
  const failed = { failure: { code: "MODEL_UNAVAILABLE", message: "m" }, repairs: 1 };
  expect(orDoubted({ ...before, doubted }, failed)).toMatchObject({ plan, failure: null, repairs: 1 });
  expect(orDoubted(before, failed)).toEqual(failed);
});
