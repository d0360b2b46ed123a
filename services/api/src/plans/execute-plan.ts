import type { PlanDocument, RequestDocument } from "@planwright/store";
import { BadInputError, NeedsInputError, PlanInvalidError, PlanningFailedError } from "../errors.ts";
import type { OperationParts } from "../parts.ts";
import { findPlan, findRequest } from "../requests/find-request.ts";

/**
 * Queues a plan that is READY; one that was started before is left as it is. A request still in PLANNING starts as
 * soon as it has a plan; `plan` is null until then.
 * @throws {NeedsInputError | PlanningFailedError | PlanInvalidError} when there is nothing that could run
 */
export async function startPlan(
  { store, offers, tenant }: OperationParts,
  request: RequestDocument,
  planId = request.planId,
): Promise<PlanDocument | null> {
  const plan = await store.queuePlan(tenant, planId, request._id);
  if (!plan) throwIfNeverPlanned(request);
  if (plan?.status === "INVALID") throw invalid(request, plan);
  if (plan?.status === "QUEUED") offers.offerExecution(plan._id, plan.epoch);
  return plan;
}

/** Starts a plan, named by its own id or by its request's, and gives the request. Does not wait. */
export async function executePlan(
  parts: OperationParts,
  ids: { planId?: string | null; requestId?: string | null },
): Promise<RequestDocument> {
  const plan = ids.planId ? await findPlan(parts, ids.planId) : null;
  const requestId = plan?.requestId ?? ids.requestId;
  if (!requestId || (ids.planId && ids.requestId)) {
    throw new BadInputError(
      "planId",
      "executePlan needs exactly one of planId and requestId",
      "Give planId to start that plan, or requestId to start the request's current plan.",
    );
  }
  const request = await findRequest(parts, requestId);
  await startPlan(parts, request, plan?._id);
  return findRequest(parts, requestId);
}

/** The error of a request whose planning ended without a plan that could run. */
export function throwIfNeverPlanned(request: RequestDocument): void {
  const ids = { requestId: request._id, planId: request.planId };
  if (request.status === "NEEDS_INPUT") {
    throw new NeedsInputError(
      ids,
      request.questions.map(({ question }) => question),
    );
  }
  if (request.status !== "FAILED" || !request.error) return;
  throw new PlanningFailedError(ids, request.error);
}

/** The error of a plan that can never run: the planner's own where planning failed, otherwise its diagnostics. */
export function invalid(
  request: RequestDocument,
  plan: PlanDocument,
): PlanInvalidError | PlanningFailedError {
  const ids = { requestId: request._id, planId: plan._id };
  return request.error && request.error.code !== "PLAN_INVALID" && request.planId === plan._id
    ? new PlanningFailedError(ids, request.error)
    : new PlanInvalidError(ids, plan.diagnostics);
}
