import { hasScope } from "../access/caller.ts";
import { debugBundle } from "../debug/debug-bundle.ts";
import { readEventPage } from "../journal/event-connection.ts";
import { type RequestAtArguments, readRequestAt } from "../journal/request-at.ts";
import { malformedIsUnknown } from "../legacy/malformed-is-unknown.ts";
import { newestExecutions, newestPlans } from "../legacy/newest-plans.ts";
import type { PageArguments } from "../operation/connection.ts";
import type { GraphqlContext } from "../operation/context.ts";
import { toFleetView } from "../operation/fleet-view.ts";
import { type CostTime, readCosts } from "../operation/model-costs.ts";
import { type OutputPageArguments, readOutputPage } from "../outputs/output-page.ts";
import { checkPlan } from "../plans/check-plan.ts";
import { findPlanHead, findPlansOfRequest, findRequest } from "../requests/find-request.ts";
import { type RequestPageArguments, readRequestPage } from "../requests/page.ts";
import { toServerView } from "../tools/server-view.ts";
import { toToolView } from "../tools/tool-view.ts";

/** Fields of Query. */
export const queryResolvers = {
  request: (_: unknown, { requestId }: { requestId: string }, context: GraphqlContext) =>
    findRequest(context, requestId),
  async requests(_: unknown, page: RequestPageArguments, { store, tenant, reads }: GraphqlContext) {
    const found = await readRequestPage(store, tenant, page);
    reads.prime(found.nodes);
    return found;
  },
  async events(
    _: unknown,
    { requestId, ...page }: { requestId: string } & PageArguments,
    context: GraphqlContext,
  ) {
    const request = await findRequest(context, requestId);
    return readEventPage(request._id, page, context);
  },
  requestAt: (_: unknown, asked: RequestAtArguments, context: GraphqlContext) =>
    readRequestAt(asked, context),
  debugBundle: (_: unknown, { requestId }: { requestId: string }, context: GraphqlContext) =>
    debugBundle(context, requestId),
  plan: (_: unknown, { id }: { id: string }, context: GraphqlContext) =>
    malformedIsUnknown(id, () => findPlanHead(context, id)),
  output: (_: unknown, page: OutputPageArguments, context: GraphqlContext) => readOutputPage(page, context),
  plansByRequestId: (_: unknown, { requestId }: { requestId: string }, context: GraphqlContext) =>
    malformedIsUnknown(requestId, () => findPlansOfRequest(context, requestId)),
  getPlans: (_: unknown, { first }: { first: number }, context: GraphqlContext) =>
    newestPlans(context, first),
  getExecutions: (_: unknown, { first }: { first: number }, context: GraphqlContext) =>
    newestExecutions(context, first),
  validatePlan: (_: unknown, { plan }: { plan: unknown }, context: GraphqlContext) =>
    checkPlan(context, plan),
  async getAvailableTools(_: unknown, __: unknown, { store, tenant }: GraphqlContext) {
    const tools = await store.toolCatalogue(tenant);
    return tools.map(toToolView);
  },
  async toolServers(_: unknown, __: unknown, { store, caller }: GraphqlContext) {
    const mayReadTexts = hasScope(caller, "operate");
    return (await store.toolServers()).map((server) => toServerView(server, mayReadTexts));
  },
  async workload(_: unknown, __: unknown, { store, tenant }: GraphqlContext) {
    const { oldest: oldestWaiting, ...counts } = await store.readWorkload(tenant);
    return { ...counts, oldestWaiting };
  },
  modelCosts: (_: unknown, time: CostTime, context: GraphqlContext) => readCosts(context, time),
  async fleet(_: unknown, __: unknown, { readFleet, caller }: GraphqlContext) {
    return toFleetView(await readFleet(), {
      tenant: caller.tenant,
      mayReadCounts: hasScope(caller, "operate"),
    });
  },
};
