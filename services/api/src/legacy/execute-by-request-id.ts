import { isTerminalPlanStatus, UNEXECUTED_REQUEST_STATUSES } from "@planwright/plan";
import type { PlanDocument, RequestDocument } from "@planwright/store";
import { PlanNotFoundError, PlanningTimeoutError } from "../errors/api-error.ts";
import type { OperationContext } from "../operation/context.ts";
import { startPlan } from "../plans/execute-plan.ts";
import { findRequest } from "../requests/find-request.ts";
import { poll } from "./poll.ts";

/** Longest that a client waits for the end of its plan, in milliseconds. */
export const EXECUTION_WAIT_MS = 30_000;

/**
 * Starts a request's plan unless it was started already, and returns it at its end, or its state after the
 * timeout. A request in PLANNING starts as soon as it has a plan.
 * @throws {BadInputError | RequestNotFoundError | PlanInvalidError | NeedsInputError | PlanningFailedError}
 * @throws {PlanningTimeoutError} when there is no plan by then
 * @throws {PlanNotFoundError} when the request ended without a plan
 */
export async function executeByRequestId(
  context: OperationContext,
  requestId: string,
  timeoutMs = EXECUTION_WAIT_MS,
): Promise<PlanDocument> {
  const { request, plan } = await poll(
    async () => {
      const found = await startedPlan(context, requestId);
      context.releaseSlot?.();
      return found;
    },
    (found) => (found.plan ? isTerminalPlanStatus(found.plan.status) : found.request.status !== "PLANNING"),
    { timeoutMs, signal: context.signal },
  );
  if (plan) return plan;
  const ids = { requestId: request._id, planId: request.planId };
  throw request.status === "PLANNING"
    ? new PlanningTimeoutError(ids, timeoutMs)
    : new PlanNotFoundError(ids.planId);
}

/** The request with its plan, which is started if necessary; null during planning. */
async function startedPlan(
  context: OperationContext,
  requestId: string,
): Promise<{ request: RequestDocument; plan: PlanDocument | null }> {
  const request = await findRequest(context, requestId);
  const isStarted = !UNEXECUTED_REQUEST_STATUSES.includes(request.status);
  const plan = isStarted ? await context.store.getPlan(context.tenant, request.planId) : null;
  // Not planned, INVALID, or READY although the request has another status: treated like a first call.
  const isRunning = plan !== null && plan.status !== "INVALID" && plan.status !== "READY";
  return { request, plan: isRunning ? plan : await startPlan(context, request) };
}
