import type { RequestDocument } from "@planwright/store";
import type { OperationContext } from "../operation/context.ts";
import { findRequest } from "./find-request.ts";
import { refuseControl } from "./refuse-control.ts";

/**
 * Pauses a request's plan: no new call starts; running calls finish and are recorded. A repeated call
 * succeeds while the plan is paused or being paused.
 * @throws {BadInputError | RequestNotFoundError | NotReadyError}
 * @throws {StateConflictError} for a plan that was not started, is being cancelled, or has ended
 */
export async function pauseRequest(context: OperationContext, requestId: string): Promise<RequestDocument> {
  const request = await findRequest(context, requestId);
  const plan = await context.store.requestPause(context.tenant, request.planId, context.by);
  const isPauseRequested = plan?.pauseRequestedAt && !plan.cancelRequestedAt && !plan.finishedAt;
  if (!isPauseRequested) throw refuseControl(request, plan, "paused");
  return request;
}

/**
 * Resumes a plan that is paused or being paused.
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
  if (plan?.status === "QUEUED") context.offers.offerExecution(plan);
  return request;
}
