import type { PlanDocument, PlanHead, RequestDocument } from "@planwright/store";
import { parsePlanId, parseRequestId } from "../arguments/parse-ids.ts";
import { PlanNotFoundError, RequestNotFoundError } from "../errors/not-found-errors.ts";
import type { GraphqlContext, OperationContext } from "../operation/context.ts";

/** @throws {BadInputError | RequestNotFoundError} */
export async function findRequest(
  { store, tenant, operation }: OperationContext,
  requestId: string,
): Promise<RequestDocument> {
  const id = parseRequestId(requestId);
  operation?.about(id);
  const request = await store.getRequest(tenant, id);
  if (!request) throw new RequestNotFoundError(requestId);
  operation?.about(id, request.trace);
  return request;
}

/** @throws {BadInputError | PlanNotFoundError} */
export async function findPlan(
  { store, tenant, operation }: OperationContext,
  planId: string,
): Promise<PlanDocument> {
  const plan = await store.getPlan(tenant, parsePlanId(planId));
  if (!plan) throw new PlanNotFoundError(planId);
  operation?.about(plan.requestId, plan.trace);
  return plan;
}

/** The same without its large parts. @throws {BadInputError | PlanNotFoundError} */
export async function findPlanHead(
  { reads, operation }: Pick<GraphqlContext, "reads" | "operation">,
  planId: string,
): Promise<PlanHead> {
  const plan = await reads.plan(parsePlanId(planId));
  if (!plan) throw new PlanNotFoundError(planId);
  operation.about(plan.requestId, plan.trace);
  return plan;
}

/** All versions of a request's plan, newest first. @throws {BadInputError | RequestNotFoundError} */
export async function findPlansOfRequest(context: GraphqlContext, requestId: string): Promise<PlanHead[]> {
  const request = await findRequest(context, requestId);
  return context.reads.plansOf(request);
}
