import type { Resolution, StepRun } from "@planwright/engine";
import type { PlanId } from "@planwright/plan";
import type { PlanApproval, PlanDocument } from "../records/plan-document.ts";
import type { ContractAsk } from "../records/tool-documents.ts";
import type { AskedReload, NewContractAsk } from "../tools/tool-servers.ts";

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
export interface ControlStore {
  /**
   * Asks to cancel a plan: a READY one ends at once, a QUEUED or later one gets `cancelRequestedAt`. Null
   * when unknown.
   */
  requestCancel(tenant: string, planId: PlanId, by: string): Promise<PlanDocument | null>;
  /**
   * Asks to start no more calls of a plan: a QUEUED or WAITING one is PAUSED at once, a RUNNING one when its
   * calls have ended. A plan with another status, or with a cancel request, is not changed. Null when
   * unknown.
   */
  requestPause(tenant: string, planId: PlanId, by: string): Promise<PlanDocument | null>;
  /**
   * Resumes a paused plan: PAUSED -> QUEUED, due now. A plan with another status is not changed. Null when
   * unknown.
   */
  requestResume(tenant: string, planId: PlanId, by: string): Promise<PlanDocument | null>;
  /**
   * Records an operator's decision on a step that waits for approval. Of several decisions on one hash the
   * first one counts. A repeat of the same decision is answered as recorded.
   */
  approveStep(tenant: string, planId: PlanId, approval: Omit<PlanApproval, "at">): Promise<ApprovalAnswer>;
  /**
   * Records an operator's decision on a unit that is in doubt. While the plan runs, its executor applies the
   * decision. In a plan that has ended the unit gets its last state here: FAILED if the call is to be
   * repeated, which is left to a rerun.
   */
  resolveUnit(tenant: string, planId: PlanId, decision: UnitDecision): Promise<ResolutionAnswer>;
  /**
   * Asks all executors to connect to a tool server anew; each of them reports what came of it in `toolServers`.
   * Null when no executor knows the server.
   */
  askReload(server: string, by: string): Promise<AskedReload | null>;
  /**
   * Asks a planner with a model what the contracts of a server's tools may be, unless that is being asked or was
   * answered within the last ten minutes. Null when no executor knows the server.
   */
  askContracts(server: string, ask: NewContractAsk): Promise<ContractAsk | null>;
  /** The newest such question; null without one. */
  readContractAsk(server: string): Promise<ContractAsk | null>;
}
