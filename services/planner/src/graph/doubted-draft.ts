/**
 * A plan may be valid and still refer to fields that no earlier output had, or treat a value as a list that
 * never was one. Each such reference is reported to the model once. If the new answer is a valid plan, it is
 * used; otherwise the first plan is used. So a warning never loses a plan. It costs one call, or two when the
 * correction of a list reveals errors in its items.
 */
import type { Drafter } from "@planwright/models";
import type { Diagnostic } from "@planwright/plan";
import { MAX_REPAIRS } from "./next-node.ts";
import type { PlanningState } from "./planning-state.ts";

/** A reference is doubtful when at least this many earlier outputs contradict it. */
const MANY_OUTPUTS = 3;

type Update = Partial<PlanningState>;
type Before = Pick<PlanningState, "doubted" | "repairs" | "answer">;

/**
 * The state after an answer was checked: a doubtful plan is kept but not stored yet, and an invalid answer is
 * replaced by a kept plan. Pure.
 */
export function afterDoubt(before: Before, checked: Update, kind: Drafter["kind"]): Update {
  const { doubted, repairs, answer } = before;
  const { plan, diagnostics = [] } = checked;
  if (!plan) return doubted ? { ...doubted, failure: null, open: null, asks: [] } : checked;
  const doubts = diagnostics.filter(isDoubt);
  // The offline drafter would give the same answer again.
  if (doubts.length === 0 || kind !== "model" || repairs >= MAX_REPAIRS) return checked;
  const isReported = doubted
    ? doubts.some((each) => doubted.diagnostics.some(isSameReference(each)))
    : repairs > 0;
  if (isReported) return checked;
  // The diagnostics are of another kind than before, so they are no sign that the model repeats its errors.
  return { ...checked, plan: null, earlierDiagnostics: null, doubted: { plan, diagnostics, answer } };
}

const isSameReference =
  ({ stepId, path }: Diagnostic) =>
  (other: Diagnostic): boolean =>
    isDoubt(other) && other.stepId === stepId && other.path === path;

/** The state after a repair: when the repair failed, a kept plan is used. Pure. */
export function orDoubted({ doubted }: Before, repaired: Update): Update {
  return doubted && repaired.failure
    ? { ...repaired, ...doubted, failure: null, open: null, asks: [] }
    : repaired;
}

/** A complete output inside a text may be intended; it is doubtful only when a part of it fits better. */
function isDoubt({ code, observedIn = 0, suggestion }: Diagnostic): boolean {
  if (observedIn < MANY_OUTPUTS) return false;
  return code !== "REFERENCE_TYPE" || suggestion !== undefined;
}
