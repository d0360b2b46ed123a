import type { PlanDocument, RequestDocument } from "@planwright/store";
import { PlanNotFoundError, RequestNotFoundError } from "../errors.ts";
import type { OperationParts } from "../parts.ts";
import { parsePlanId, parseRequestId } from "./parse-ids.ts";

/** @throws {BadInputError | RequestNotFoundError} */
export async function findRequest(
  { store, tenant }: OperationParts,
  requestId: string,
): Promise<RequestDocument> {
  const request = await store.getRequest(tenant, parseRequestId(requestId));
  if (!request) throw new RequestNotFoundError(requestId);
  return request;
}

/** @throws {BadInputError | PlanNotFoundError} */
export async function findPlan({ store, tenant }: OperationParts, planId: string): Promise<PlanDocument> {
  const plan = await store.getPlan(tenant, parsePlanId(planId));
  if (!plan) throw new PlanNotFoundError(planId);
  return plan;
}

/** All versions of a request's plan, newest first. @throws {BadInputError | RequestNotFoundError} */
export async function findPlansOfRequest(parts: OperationParts, requestId: string): Promise<PlanDocument[]> {
  const plans = await parts.store.listPlans(parts.tenant, parseRequestId(requestId));
  // Only an empty answer has to be told from an unknown request.
  if (plans.length === 0) await findRequest(parts, requestId);
  return plans;
}
