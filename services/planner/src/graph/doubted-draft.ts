/**
 * A plan may run and still refer to fields that no earlier output had. The model is told once, and has the last word: what it answers is taken
 * when it can run, else the plan that there was. So a warning costs one call at most, and no plan.
 */
import type { Drafter } from "@planwright/models";
import type { Diagnostic } from "@planwright/plan";
import type { PlanningState } from "./planning-state.ts";

/** So many outputs without a field speak against it. */
const MANY_OUTPUTS = 3;

type Update = Partial<PlanningState>;
type Before = Pick<PlanningState, "doubted" | "repairs" | "answer">;

/** What checking an answer comes to: a plan in doubt is kept and not stored yet, and one that cannot run gives way to a kept one. Pure. */
export function afterDoubt(before: Before, checked: Update, kind: Drafter["kind"]): Update {
  const { doubted, repairs, answer } = before;
  const { plan, diagnostics = [] } = checked;
  if (!plan) return doubted ? { ...doubted, failure: null, questions: [] } : checked;
  // Rules would say the same again.
  const isTold = repairs > 0 || doubted !== null || kind !== "model";
  if (isTold || !diagnostics.some(isDoubt)) return checked;
  return { ...checked, plan: null, doubted: { plan, diagnostics, answer } };
}

/** What a repair comes to: where it failed, a kept plan is the plan. Pure. */
export function orDoubted({ doubted }: Before, repaired: Update): Update {
  return doubted && repaired.failure ? { ...repaired, ...doubted, failure: null, questions: [] } : repaired;
}

function isDoubt({ code, observedIn = 0 }: Diagnostic): boolean {
  return code === "REFERENCE_FIELD_UNKNOWN" && observedIn >= MANY_OUTPUTS;
}
