import type { RequestStatus } from "@planwright/plan";
import {
  type ClientStore,
  type PlanDocument,
  type PlanHead,
  type RequestDocument,
  toCursor,
} from "@planwright/store";
import { type FilterArgument, parseFilter } from "../arguments/parse-filter.ts";
import { parsePlanId, parseRequestId } from "../arguments/text.ts";
import { PlanNotFoundError, RequestNotFoundError } from "../errors/api-error.ts";
import { type Connection, type PageArguments, parsePage, toConnection } from "../operation/connection.ts";
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

/** Arguments of the list. */
export interface RequestPageArguments extends PageArguments {
  status?: readonly RequestStatus[] | null;
  filter?: FilterArgument | null;
  orderBy?: RequestOrder;
}

/** Orders of the list. */
type RequestOrder = "NEWEST_FIRST" | "OLDEST_FIRST";

/** One page. @throws {BadInputError | CursorInvalidError} */
export async function readRequestPage(
  store: ClientStore,
  tenant: string,
  { status, filter, orderBy, ...page }: RequestPageArguments,
): Promise<Connection<RequestDocument>> {
  const found = await store.listRequests(tenant, {
    ...parsePage(page, "requests"),
    filter: parseFilter(filter, status),
    order: orderBy === "OLDEST_FIRST" ? "oldest" : "newest",
  });
  return toConnection(found, ({ createdAt, _id: id }) => toCursor({ createdAt, id }));
}
