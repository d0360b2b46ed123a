import { isTerminalPlanStatus } from "@planwright/plan";
import type { RequestDocument } from "@planwright/store";
import type { OperationContext } from "../operation/context.ts";
import { findRequest } from "./find-request.ts";
import { refuseControl } from "./refuse-control.ts";

/**
 * Cancels a request's plan, or its planning. A repeated call succeeds, for example after a lost answer.
 * @throws {BadInputError | RequestNotFoundError | NotReadyError}
 * @throws {StateConflictError} for a plan that has ended in another status, and for a request without a plan
 */
export async function cancelRequest(context: OperationContext, requestId: string): Promise<RequestDocument> {
  const request = await findRequest(context, requestId);
  if (request.status === "PLANNING") {
    const cancelled = await context.store.cancelPlanning(context.tenant, request._id, context.by);
    if (cancelled) return cancelled;
  }
  const plan = await context.store.requestCancel(context.tenant, request.planId, context.by);
  if (plan?.cancelRequestedAt && !plan.finishedAt) {
    // With an offer, a queued plan ends at once instead of at the next sweep.
    context.offers.offerExecution(plan);
  } else if (plan?.status !== "CANCELLED" && request.status !== "CANCELLED") {
    const now = await findRequest(context, requestId);
    // The plan has ended in between, and the request is being replanned.
    if (now.status === "PLANNING") return cancelRequest(context, requestId);
    throw refuseControl(now, plan, "cancelled");
  }
  return findRequest(context, requestId);
}

/**
 * Checks whether `cancelRequest` would be refused now; nothing is changed.
 * @throws {NotReadyError | StateConflictError} the reason of the refusal
 */
export async function checkCancel(
  { store, tenant }: Pick<OperationContext, "store" | "tenant">,
  request: RequestDocument,
): Promise<void> {
  if (request.status === "PLANNING" || request.status === "CANCELLED") return;
  const [plan = null] = await store.getPlanHeads(tenant, [request.planId]);
  const isOpen = plan !== null && !isTerminalPlanStatus(plan.status);
  if (!isOpen && plan?.status !== "CANCELLED") throw refuseControl(request, plan, "cancelled");
}
