import { isTerminalPlanStatus, isTerminalStepStatus, type WaitReason } from "@planwright/plan";
import type { LiveWorkers, PlanDocument, RequestDocument, StepDocument } from "@planwright/store";

/** Clocks of two machines may differ by this much before a lease counts as expired. */
const GRACE_MS = 2_000;

/** What is known beside the documents. */
export interface Here {
  /** Unix milliseconds. */
  nowMs: number;
  live: LiveWorkers;
}

/** The part of a plan that decides why its steps wait. */
export type WaitingPlan = Pick<PlanDocument, "status" | "lease" | "waitReason">;
/** The part of a step that decides why it waits. */
export type WaitingStep = Pick<StepDocument, "status" | "waitReason">;

/**
 * Why a step waits; null while it runs and when it, or its plan, is over.
 * @param hasOpenDependency - true while a step that it depends on is not final
 */
export function stepWaitReason(
  step: WaitingStep,
  plan: WaitingPlan,
  facts: Here & { hasOpenDependency: boolean },
): WaitReason | null {
  if (isTerminalStepStatus(step.status) || isTerminalPlanStatus(plan.status)) return null;
  if (step.status === "IN_DOUBT") return "in doubt";
  if (step.status === "WAITING_APPROVAL") return "approval";
  if (plan.status === "AWAITING_APPROVAL") return "approval";
  if (plan.status === "READY" || plan.status === "PAUSED") return "paused";
  if (plan.status === "QUEUED" || isLeaseExpired(plan, facts.nowMs)) return withoutOwner(facts.live.executor);
  if (step.status === "RUNNING") return null;
  if (step.status === "RETRYING") return "backoff";
  if (facts.hasOpenDependency) return "dependency";
  return notADependency(step.waitReason) ?? plan.waitReason ?? "limit";
}

/** Why the whole plan waits; null while an executor works on it and when it is over. */
export function planWaitReason(plan: WaitingPlan, { nowMs, live }: Here): WaitReason | null {
  if (isTerminalPlanStatus(plan.status)) return null;
  if (plan.status === "AWAITING_APPROVAL") return "approval";
  if (plan.status === "READY" || plan.status === "PAUSED") return "paused";
  if (plan.status === "QUEUED" || isLeaseExpired(plan, nowMs)) return withoutOwner(live.executor);
  return plan.status === "WAITING" ? plan.waitReason : null;
}

/** Why planning waits; null while a planner works on it. */
export function requestWaitReason(
  request: Pick<RequestDocument, "status" | "planning">,
  { nowMs, live }: Here,
): WaitReason | null {
  if (request.status !== "PLANNING") return null;
  const { lease } = request.planning;
  const isHeld = lease !== null && lease.expiresAt.getTime() + GRACE_MS >= nowMs;
  return isHeld ? null : withoutOwner(live.planner);
}

/** Work that no worker holds: one that lives takes it as soon as it has a free place. */
const withoutOwner = (live: number): WaitReason => (live === 0 ? "no worker" : "limit");

/** The executor stopped renewing: it is gone, and nobody has taken over. */
function isLeaseExpired({ status, lease }: WaitingPlan, nowMs: number): boolean {
  if (status !== "RUNNING" && status !== "CANCELLING") return false;
  return lease === null || lease.expiresAt.getTime() + GRACE_MS < nowMs;
}

/** A recorded "dependency" is stale once every dependency is final. */
function notADependency(reason: WaitReason | null): WaitReason | null {
  return reason === "dependency" ? null : reason;
}
