import type { Diagnostic, Plan } from "@planwright/plan";
import { expect, test } from "vitest";
import { afterDoubt, orDoubted } from "./doubted-draft.ts";

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

test("a plan with a field that many outputs did not have is kept, and a repair is asked", () => {
  expect(afterDoubt(before, checked(3), "model")).toMatchObject({ plan: null, doubted: { plan } });
});

test.each([
  ["a list that never was one", { ...unseen(3), code: "FOREACH_ITEMS_NOT_LIST" }, null],
  [
    "a whole output where a field fits",
    { ...unseen(3), code: "REFERENCE_TYPE", suggestion: "<<f.id>>" },
    null,
  ],
  ["a whole output as a text", { ...unseen(3), code: "REFERENCE_TYPE" }, plan],
] as const)("%s is in doubt, or may be meant so", (_, diagnostic, taken) => {
  const update = { plan, diagnostics: [diagnostic] };
  expect(afterDoubt(before, update, "model").plan).toBe(taken);
});

test.each([
  ["few outputs say so", before, checked(2), "model"],
  ["no output says so", before, checked(), "model"],
  ["it was told before", { ...before, repairs: 1 }, checked(9), "model"],
  ["rules made the plan", before, checked(9), "offline"],
] as const)("a plan is taken as it is where %s", (_, state, update, kind) => {
  expect(afterDoubt(state, { ...update }, kind)).toEqual(update);
});

test("a repair that shows another place to be wrong is told of that one as well, while repairs are left", () => {
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

test("a repair that can run is taken, whatever was never seen", () => {
  expect(afterDoubt({ ...before, doubted, repairs: 1 }, checked(9), "model")).toEqual(checked(9));
});

test("a repair that cannot run, or that failed, gives the plan that there was", () => {
  const broken = { plan: null, diagnostics: [] };
  expect(afterDoubt({ ...before, doubted, repairs: 1 }, broken, "model")).toMatchObject({
    plan,
    failure: null,
  });
  const failed = { failure: { code: "MODEL_UNAVAILABLE", message: "m" }, repairs: 1 };
  expect(orDoubted({ ...before, doubted }, failed)).toMatchObject({ plan, failure: null, repairs: 1 });
  expect(orDoubted(before, failed)).toEqual(failed);
});
