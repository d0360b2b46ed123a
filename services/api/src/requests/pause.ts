import type { PlanDocument, RequestDocument } from "@planwright/store";
import { NotReadyError } from "../errors.ts";
import type { OperationParts } from "../parts.ts";
import { findRequest } from "./find-request.ts";

/**
 * Asks that nothing more of a request's plan starts; calls under way end and are recorded. A plan that was not started, or
 * is over, is given back as it is.
 * @throws {BadInputError | RequestNotFoundError | NotReadyError}
 */
export async function pauseRequest(parts: OperationParts, requestId: string): Promise<RequestDocument> {
  const request = await findRequest(parts, requestId);
  const plan = await parts.store.requestPause(parts.tenant, request.planId);
  throwIfPlanning(request, plan);
  return request;
}

/**
 * Lets a paused plan go on; any other is given back as it is.
 * @throws {BadInputError | RequestNotFoundError | NotReadyError}
 */
export async function resumeRequest(parts: OperationParts, requestId: string): Promise<RequestDocument> {
  const request = await findRequest(parts, requestId);
  const plan = await parts.store.requestResume(parts.tenant, request.planId);
  throwIfPlanning(request, plan);
  if (plan?.status === "QUEUED") parts.offers.offerExecution(plan._id, plan.epoch);
  return request;
}

function throwIfPlanning(request: RequestDocument, plan: PlanDocument | null): void {
  if (plan || request.status !== "PLANNING") return;
  throw new NotReadyError({ requestId: request._id, planId: request.planId });
}
