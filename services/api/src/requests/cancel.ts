import type { RequestDocument } from "@planwright/store";
import { NotReadyError } from "../errors.ts";
import type { OperationParts } from "../parts.ts";
import { findRequest } from "./find-request.ts";

/**
 * Asks for the end of a request's plan, or of its being made anew. A request that is over, or that never got a plan, is given back as it is.
 * @throws {BadInputError | RequestNotFoundError | NotReadyError}
 */
export async function cancelRequest(parts: OperationParts, requestId: string): Promise<RequestDocument> {
  const request = await findRequest(parts, requestId);
  const cancelled = await parts.store.cancelReplan(parts.tenant, request._id);
  if (cancelled) return cancelled;
  const plan = await parts.store.requestCancel(parts.tenant, request.planId);
  if (!plan && request.status === "PLANNING") {
    throw new NotReadyError({ requestId: request._id, planId: request.planId });
  }
  // Offered to an executor, a queued plan ends at once instead of at the next sweep.
  if (plan?.cancelRequestedAt && !plan.finishedAt) parts.offers.offerExecution(plan._id, plan.epoch);
  return findRequest(parts, requestId);
}
