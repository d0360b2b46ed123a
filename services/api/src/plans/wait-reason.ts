import type { StepRun } from "@planwright/engine";
import {
  isTerminalPlanStatus,
  isTerminalStepStatus,
  needsPerson,
  planNeed,
  stepNeedsPerson,
  type WaitReason,
  waitReasonOfStep,
} from "@planwright/plan";
import type { LiveWorkers, PlanDocument, RequestDocument } from "@planwright/store";

/** The part of a plan that decides why its steps wait. */
export type WaitingPlan = Pick<PlanDocument, "status" | "lease" | "waitReason">;
/** The part of a step that decides why it waits. */
export type WaitingStep = Pick<StepRun, "status" | "waitReason">;

/**
 * Why a step waits; null while it runs, and after the step or its plan has ended.
 * @param hasOpenDependency - true while a dependency of the step has not ended
 */
export function stepWaitReason(
  step: WaitingStep,
  plan: WaitingPlan,
  live: LiveWorkers,
  hasOpenDependency: boolean,
): WaitReason | null {
  if (isTerminalStepStatus(step.status) || isTerminalPlanStatus(plan.status)) return null;
  const stepReason = waitReasonOfStep(step.status);
  if (stepReason && stepNeedsPerson(step.status)) return stepReason;
  const reason = blockedBy(plan, live);
  if (reason) return reason;
  if (step.status === "RUNNING") return null;
  if (stepReason) return stepReason;
  if (hasOpenDependency) return "dependency";
  return notADependency(step.waitReason) ?? plan.waitReason ?? "limit";
}

/** Why the plan waits; null while an executor works on it, and after it has ended. */
export function planWaitReason(plan: WaitingPlan, live: LiveWorkers): WaitReason | null {
  if (isTerminalPlanStatus(plan.status)) return null;
  return blockedBy(plan, live) ?? (plan.status === "WAITING" ? plan.waitReason : null);
}

/** Why an unfinished plan makes no progress: no client started or resumed it, or no executor holds it. */
function blockedBy(plan: WaitingPlan, live: LiveWorkers): WaitReason | null {
  const need = planNeed(plan);
  if (need === "start" || need === "resume") return "paused";
  return need === "worker" && !isOwned(plan, live) ? withoutOwner(live.executor) : null;
}

/** Why planning waits; null while a planner works on it. */
export function requestWaitReason(
  request: Pick<RequestDocument, "status" | "lease"> & {
    planning: Pick<RequestDocument["planning"], "wait">;
  },
  live: LiveWorkers,
): WaitReason | null {
  if (request.status !== "PLANNING") return null;
  if (isOwned(request, live)) return null;
  return request.planning.wait && live.planner > 0 ? "backoff" : withoutOwner(live.planner);
}

/** The wait reason of work without a worker: a live worker claims it as soon as it has a free slot. */
const withoutOwner = (live: number): WaitReason => (live === 0 ? "no worker" : "limit");

/** False when the owner is dead, and no other worker has claimed the work. */
function isOwned({ lease }: Pick<PlanDocument, "lease">, { owners }: LiveWorkers): boolean {
  return lease !== null && owners.has(lease.owner);
}

/** A recorded "dependency" is outdated when every dependency has ended. */
function notADependency(reason: WaitReason | null): WaitReason | null {
  return reason === "dependency" ? null : reason;
}

/**
 * When the first open approval of a plan expires. Null without one: a doubt and a pause last until a person ends
 * them; and from a decision until an executor has read it.
 */
export function shownExpiryOf(
  plan: Pick<PlanDocument, "status" | "waitReason" | "lease" | "dueAt" | "controls" | "approvalUntil">,
): Date | null {
  if (isTerminalPlanStatus(plan.status) || (plan.controls ?? []).length > 0) return null;
  // Documents of earlier versions have no `approvalUntil`.
  const isParked = !plan.lease && plan.status === "WAITING" && plan.waitReason === "approval";
  return isParked ? plan.dueAt : (plan.approvalUntil ?? null);
}

/**
 * When a plan becomes EXPIRED unless it ends before. Null before its start, and while only a person can continue it:
 * the time of its deadline does not pass then.
 */
export function shownDeadlineOf(
  plan: Pick<PlanDocument, "status" | "waitReason" | "lease" | "deadlineAt">,
): Date | null {
  return !plan.lease && needsPerson(planNeed(plan)) ? null : plan.deadlineAt;
}
