/**
 * A plan may run and still refer to fields that no earlier output had, or take for a list what never was one. The model is told of each
 * place once, and has the last word: what it answers is taken when it can run, else the plan that there was. So warnings cost no plan, and one
 * call; a second one where putting a list right shows what is wrong with its items.
 */
import type { Drafter } from "@planwright/models";
import type { Diagnostic } from "@planwright/plan";
import { MAX_REPAIRS } from "./next-node.ts";
import type { PlanningState } from "./planning-state.ts";

/** So many outputs that were otherwise speak against a plan. */
const MANY_OUTPUTS = 3;

type Update = Partial<PlanningState>;
type Before = Pick<PlanningState, "doubted" | "repairs" | "answer">;

/** What checking an answer comes to: a plan in doubt is kept and not stored yet, and one that cannot run gives way to a kept one. Pure. */
export function afterDoubt(before: Before, checked: Update, kind: Drafter["kind"]): Update {
  const { doubted, repairs, answer } = before;
  const { plan, diagnostics = [] } = checked;
  if (!plan) return doubted ? { ...doubted, failure: null, open: null, asks: [] } : checked;
  const doubts = diagnostics.filter(isDoubt);
  // Rules would say the same again.
  if (doubts.length === 0 || kind !== "model" || repairs >= MAX_REPAIRS) return checked;
  const isTold = doubted ? doubts.some((each) => doubted.diagnostics.some(isSamePlace(each))) : repairs > 0;
  if (isTold) return checked;
  // Findings of another kind than before: they are no sign that the model repeats itself.
  return { ...checked, plan: null, earlierDiagnostics: null, doubted: { plan, diagnostics, answer } };
}

const isSamePlace =
  ({ stepId, path }: Diagnostic) =>
  (other: Diagnostic): boolean =>
    isDoubt(other) && other.stepId === stepId && other.path === path;

/** What a repair comes to: where it failed, a kept plan is the plan. Pure. */
export function orDoubted({ doubted }: Before, repaired: Update): Update {
  return doubted && repaired.failure
    ? { ...repaired, ...doubted, failure: null, open: null, asks: [] }
    : repaired;
}

/** A whole output where a text goes may be meant so; with a part of it that fits better it is a doubt. */
function isDoubt({ code, observedIn = 0, suggestion }: Diagnostic): boolean {
  if (observedIn < MANY_OUTPUTS) return false;
  return code !== "REFERENCE_TYPE" || suggestion !== undefined;
}
