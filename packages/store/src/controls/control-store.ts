import type { Resolution } from "@planwright/engine";
import type { PlanId } from "@planwright/plan";
import type { PlanApproval, PlanDocument } from "../records/plan-document.ts";
import type { StepDocument } from "../records/step-document.ts";

/** An operator's decision on a unit that is in doubt. */
export interface UnitDecision {
  key: string;
  /** The attempt that was looked at; default the one in doubt. */
  attempt?: number | undefined;
  resolution: Resolution;
  by: string;
}

/** Result of {@link ControlStore.approveStep}. */
export type ApprovalAnswer =
  /** It is recorded, under the operator who decided first. */
  | { type: "recorded"; plan: PlanDocument; by: string }
  /** There is another hash to be approved. */
  | { type: "stale"; step: StepDocument }
  /** No approval is asked for, not yet or no longer. */
  | { type: "not waiting"; step: StepDocument }
  /** The opposite was decided before. */
  | { type: "decided"; step: StepDocument }
  /** No such plan, or no such step in it. */
  | { type: "unknown" };

/** Result of {@link ControlStore.resolveUnit}. */
export type ResolutionAnswer =
  | { type: "recorded"; plan: PlanDocument }
  /** It is not, no longer, or the step of this item is COMPLETED; or another attempt is in doubt by now. */
  | { type: "not in doubt"; unit: StepDocument }
  /** Another operator decided before. */
  | { type: "decided"; unit: StepDocument }
  /** The output is larger than 32 KiB, or MongoDB cannot store it. */
  | { type: "too large" }
  /** No such plan, or no such unit in it. */
  | { type: "unknown" };

/** What clients and operators ask of a plan that was started. */
export interface ControlStore {
  /**
   * Asks for the end of a plan: READY ends at once, QUEUED and later get `cancelRequestedAt`. Null when
   * unknown.
   */
  requestCancel(tenant: string, planId: PlanId, by: string): Promise<PlanDocument | null>;
  /**
   * Asks that nothing more of a plan starts: QUEUED and WAITING are PAUSED at once, a RUNNING one as soon as
   * its calls have ended. Any other, and one whose end was asked for, is left as it is. Null when unknown.
   */
  requestPause(tenant: string, planId: PlanId, by: string): Promise<PlanDocument | null>;
  /** Resumes a paused plan: PAUSED -> QUEUED, due now. Any other is left as it is. Null when unknown. */
  requestResume(tenant: string, planId: PlanId, by: string): Promise<PlanDocument | null>;
  /**
   * Records an operator's decision on a step that waits for approval. Of several decisions on one hash the
   * first one counts; the same decision again is answered as recorded.
   */
  approveStep(tenant: string, planId: PlanId, word: Omit<PlanApproval, "at">): Promise<ApprovalAnswer>;
  /**
   * Records an operator's decision on a unit that is in doubt. While the plan runs, its executor applies it;
   * in a plan that has ended the unit gets its last state here: FAILED where it should be called again, which
   * is left to a rerun.
   */
  resolveUnit(tenant: string, planId: PlanId, word: UnitDecision): Promise<ResolutionAnswer>;
}
