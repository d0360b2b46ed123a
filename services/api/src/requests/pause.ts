import type { RequestDocument } from "@planwright/store";
import type { OperationContext } from "../operation/context.ts";
import { findRequest } from "./find-request.ts";
import { refuseControl } from "./refuse-control.ts";

/**
 * Asks that nothing more of a request's plan starts; calls under way end and are recorded. Asked for again while the plan is
 * paused, or is to be paused, it is answered as done.
 * @throws {BadInputError | RequestNotFoundError | NotReadyError}
 * @throws {StateConflictError} for a plan that was not started, is being cancelled, or is over
 */
export async function pauseRequest(context: OperationContext, requestId: string): Promise<RequestDocument> {
  const request = await findRequest(context, requestId);
  const plan = await context.store.requestPause(context.tenant, request.planId, context.by);
  const isAsked = plan?.pauseRequestedAt && !plan.cancelRequestedAt && !plan.finishedAt;
  if (!isAsked) throw refuseControl(request, plan, "paused");
  return request;
}

/**
 * Lets a plan go on that is paused, or is to be paused.
 * @throws {BadInputError | RequestNotFoundError | NotReadyError}
 * @throws {StateConflictError} for any other plan
 */
export async function resumeRequest(context: OperationContext, requestId: string): Promise<RequestDocument> {
  const request = await findRequest(context, requestId);
  const before = await context.store.getPlan(context.tenant, request.planId);
  const plan = await context.store.requestResume(context.tenant, request.planId, context.by);
  const isResumed =
    before?.pauseRequestedAt && !plan?.pauseRequestedAt && !plan?.cancelRequestedAt && !plan?.finishedAt;
  if (!isResumed) throw refuseControl(request, plan, "resumed");
  if (plan?.status === "QUEUED") context.offers.offerExecution(plan._id, plan.epoch);
  return request;
}
