import type { RequestDocument } from "@planwright/store";
import type { OperationParts } from "../parts.ts";
import { findRequest } from "./find-request.ts";
import { refuseControl } from "./refuse-control.ts";

/**
 * Asks that nothing more of a request's plan starts; calls under way end and are recorded. Asked for again while the plan is
 * paused, or is to be paused, it is answered as done.
 * @throws {BadInputError | RequestNotFoundError | NotReadyError}
 * @throws {StateConflictError} for a plan that was not started, is being cancelled, or is over
 */
export async function pauseRequest(parts: OperationParts, requestId: string): Promise<RequestDocument> {
  const request = await findRequest(parts, requestId);
  const plan = await parts.store.requestPause(parts.tenant, request.planId, parts.by);
  const isAsked = plan?.pauseRequestedAt && !plan.cancelRequestedAt && !plan.finishedAt;
  if (!isAsked) throw refuseControl(request, plan, "paused");
  return request;
}

/**
 * Lets a plan go on that is paused, or is to be paused.
 * @throws {BadInputError | RequestNotFoundError | NotReadyError}
 * @throws {StateConflictError} for any other plan
 */
export async function resumeRequest(parts: OperationParts, requestId: string): Promise<RequestDocument> {
  const request = await findRequest(parts, requestId);
  const before = await parts.store.getPlan(parts.tenant, request.planId);
  const plan = await parts.store.requestResume(parts.tenant, request.planId, parts.by);
  const isResumed =
    before?.pauseRequestedAt && !plan?.pauseRequestedAt && !plan?.cancelRequestedAt && !plan?.finishedAt;
  if (!isResumed) throw refuseControl(request, plan, "resumed");
  if (plan?.status === "QUEUED") parts.offers.offerExecution(plan._id, plan.epoch);
  return request;
}
