import type { Resolution, StepRun } from "@planwright/engine";
import type { PlanDocument } from "../records/plan-document.ts";
import type { createControlStore } from "./create-control-store.ts";

/** An operator's decision on a unit that is in doubt. */
export interface UnitDecision {
  key: string;
  /** The attempt that the operator looked at. Default: the one in doubt. */
  attempt?: number | undefined;
  resolution: Resolution;
  by: string;
}

/** Result of {@link ControlStore.approveStep}. */
export type ApprovalAnswer =
  /** The decision is recorded; `by` is the operator who decided first. */
  | { type: "recorded"; plan: PlanDocument; by: string }
  /** Another hash waits for approval. */
  | { type: "stale"; step: StepRun }
  /** The time for this approval is over: the step fails as soon as an executor sees that. */
  | { type: "expired"; step: StepRun }
  /** The step does not wait for approval, not yet or no longer. */
  | { type: "not waiting"; step: StepRun }
  /** The opposite was decided before. */
  | { type: "decided"; step: StepRun }
  /** No such plan, or no such step in it. */
  | { type: "unknown" };

/** Result of {@link ControlStore.resolveUnit}. */
export type ResolutionAnswer =
  | { type: "recorded"; plan: PlanDocument }
  /**
   * The unit is not in doubt or no longer in doubt, the step of this item is COMPLETED, or another attempt is
   * in doubt.
   */
  | { type: "not in doubt"; unit: StepRun }
  /** Another operator decided before. */
  | { type: "decided"; unit: StepRun }
  /** The output is larger than 32 KiB, or MongoDB cannot store it. */
  | { type: "too large" }
  /** No such plan, or no such unit in it. */
  | { type: "unknown" };

/** Controls of clients and operators. */
export type ControlStore = ReturnType<typeof createControlStore>;
