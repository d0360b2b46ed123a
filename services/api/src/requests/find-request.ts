import type { PlanDocument, RequestDocument } from "@planwright/store";
import { PlanNotFoundError, RequestNotFoundError } from "../errors.ts";
import type { OperationParts } from "../parts.ts";
import { parsePlanId, parseRequestId } from "./parse-ids.ts";

/** @throws {BadInputError | RequestNotFoundError} */
export async function findRequest(
  { store, tenant, operation }: OperationParts,
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
  { store, tenant, operation }: OperationParts,
  planId: string,
): Promise<PlanDocument> {
  const plan = await store.getPlan(tenant, parsePlanId(planId));
  if (!plan) throw new PlanNotFoundError(planId);
  operation?.about(plan.requestId, plan.trace);
  return plan;
}

/** All versions of a request's plan, newest first. @throws {BadInputError | RequestNotFoundError} */
export async function findPlansOfRequest(parts: OperationParts, requestId: string): Promise<PlanDocument[]> {
  const id = parseRequestId(requestId);
  parts.operation?.about(id);
  const plans = await parts.store.listPlans(parts.tenant, id);
  // Only an empty answer has to be told from an unknown request.
  if (plans.length === 0) await findRequest(parts, requestId);
  return plans;
}
