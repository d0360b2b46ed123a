import { isTerminalPlanStatus } from "@planwright/plan";
import type { PlanDocument } from "@planwright/store";
import { PlanningTimeoutError } from "../errors.ts";
import type { OperationParts } from "../parts.ts";
import { startPlan } from "../plans/execute-plan.ts";
import { findRequest } from "../requests/find-request.ts";
import { poll } from "../waiting/poll.ts";

/** Longest that a client waits for the end of its plan, in milliseconds. */
export const EXECUTION_WAIT_MS = 30_000;

/**
 * Starts a request's plan unless it was started before, and gives the plan as it stands at its end, or when the time
 * is over. A request still in PLANNING starts as soon as it has a plan.
 * @throws {BadInputError | RequestNotFoundError | PlanInvalidError | NeedsInputError | PlanningFailedError}
 * @throws {PlanningTimeoutError} when there is no plan by then
 */
export async function executeByRequestId(
  parts: OperationParts,
  requestId: string,
  timeoutMs = EXECUTION_WAIT_MS,
): Promise<PlanDocument> {
  const plan = await poll(
    () => startedPlan(parts, requestId),
    (found) => found !== null && isTerminalPlanStatus(found.status),
    { timeoutMs, signal: parts.signal },
  );
  if (plan) return plan;
  const request = await findRequest(parts, requestId);
  throw new PlanningTimeoutError({ requestId: request._id, planId: request.planId }, timeoutMs);
}

/** The request's plan, started if it was not; null while it is being made. One read once it runs. */
async function startedPlan(parts: OperationParts, requestId: string): Promise<PlanDocument | null> {
  const request = await findRequest(parts, requestId);
  if (request.status === "PLANNING" || request.status === "READY") return startPlan(parts, request);
  const plan = await parts.store.getPlan(parts.tenant, request.planId);
  // Not planned, INVALID, or READY although the request moved on: the same answer as to a first call.
  return !plan || plan.status === "INVALID" || plan.status === "READY" ? startPlan(parts, request) : plan;
}
