import {
  isTerminalPlanStatus,
  isTerminalStepStatus,
  planNeed,
  stepNeedsPerson,
  type WaitReason,
  waitReasonOfStep,
} from "@planwright/plan";
import type { LiveWorkers, PlanDocument, RequestDocument, StepDocument } from "@planwright/store";

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
  live: LiveWorkers,
  hasOpenDependency: boolean,
): WaitReason | null {
  if (isTerminalStepStatus(step.status) || isTerminalPlanStatus(plan.status)) return null;
  const own = waitReasonOfStep(step.status);
  if (own && stepNeedsPerson(step.status)) return own;
  const reason = heldUp(plan, live);
  if (reason) return reason;
  if (step.status === "RUNNING") return null;
  if (own) return own;
  if (hasOpenDependency) return "dependency";
  return notADependency(step.waitReason) ?? plan.waitReason ?? "limit";
}

/** Why the whole plan waits; null while an executor works on it and when it is over. */
export function planWaitReason(plan: WaitingPlan, live: LiveWorkers): WaitReason | null {
  if (isTerminalPlanStatus(plan.status)) return null;
  return heldUp(plan, live) ?? (plan.status === "WAITING" ? plan.waitReason : null);
}

/** Why nothing at all happens in a plan that is not over: no client started or resumed it, or no executor has it. */
function heldUp(plan: WaitingPlan, live: LiveWorkers): WaitReason | null {
  const need = planNeed(plan);
  if (need === "start" || need === "resume") return "paused";
  return need === "worker" && !isOwned(plan, live) ? withoutOwner(live.executor) : null;
}

/** Why planning waits; null while a planner works on it. */
export function requestWaitReason(
  request: Pick<RequestDocument, "status" | "planning">,
  live: LiveWorkers,
): WaitReason | null {
  if (request.status !== "PLANNING") return null;
  return isOwned(request.planning, live) ? null : withoutOwner(live.planner);
}

/** Work that no worker holds: one that lives takes it as soon as it has a free place. */
const withoutOwner = (live: number): WaitReason => (live === 0 ? "no worker" : "limit");

/** False once its owner is silent, and no other one has taken over. */
function isOwned({ lease }: Pick<PlanDocument, "lease">, { owners }: LiveWorkers): boolean {
  return lease !== null && owners.has(lease.owner);
}

/** A recorded "dependency" is stale once every dependency is final. */
function notADependency(reason: WaitReason | null): WaitReason | null {
  return reason === "dependency" ? null : reason;
}
