import { hasPlanFailed, hasPlanResults, type RequestStatus } from "@planwright/plan";
import type { Document } from "mongodb";
import type { FinishCommand, PlanFollowUp } from "../records/plan-document.ts";
import { parkedFor } from "./parked-for.ts";

/** The status of a request after the end of its plan. */
export const REQUEST_STATUS: Record<FinishCommand["status"], RequestStatus> = {
  COMPLETED: "COMPLETED",
  PARTIAL: "PARTIAL",
  FAILED: "FAILED",
  EXPIRED: "FAILED",
  CANCELLED: "CANCELLED",
};

/** True for a status in which a plan that ran can end. */
export function isPlanEnd(status: string): status is FinishCommand["status"] {
  return Object.hasOwn(REQUEST_STATUS, status);
}

/**
 * Changes of a request by the end of its plan: the status, and the next work of a planner. It is one write,
 * so that the status never changes without that work. A plan that was to be cancelled is not replanned, even
 * if it ended in another status. Pure.
 * @param updatedAt - the time of that end
 */
export function requestAfterPlan(
  {
    followUp,
    cancelRequestedAt,
  }: { followUp?: PlanFollowUp | null | undefined; cancelRequestedAt: Date | null },
  { status, error }: Pick<FinishCommand, "status" | "error">,
  updatedAt: Date,
): Document {
  const ended = { status: REQUEST_STATUS[status], updatedAt };
  if (!followUp) return ended;
  // A POISONED plan, which killed five executors, is not replanned: the new plan could kill a sixth.
  const mayReplan = hasPlanFailed(status) && error?.code !== "POISONED" && cancelRequestedAt === null;
  if (mayReplan && followUp.replans < followUp.maxReplans) {
    const replan = { note: null, execute: true };
    const made = { "replans.made": followUp.replans + 1 };
    return { ...parkedFor("replan", updatedAt), ...made, status: "PLANNING", replan, updatedAt };
  }
  if (!followUp.answer) return ended;
  if (hasPlanResults(status)) return { ...parkedFor("answer", updatedAt), ...ended };
  const answerError = {
    code: "PLAN_NOT_COMPLETED",
    message: `The plan is ${status}, so there are no results to describe`,
  };
  return { ...ended, answerError };
}
