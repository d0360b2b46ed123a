import { executionStateOfRequest, type RequestId, requestTitle } from "@planwright/plan";
import { contextOf, modelCallCursor, NO_USE, planCursor, type RequestDocument } from "@planwright/store";
import { readDiagnosis } from "../diagnosis/read-diagnosis.ts";
import { readEventPage } from "../journal/event-connection.ts";
import { type PageArguments, parsePage, toConnection } from "../operation/connection.ts";
import type { GraphqlContext } from "../operation/context.ts";
import { requestWaitReason } from "../plans/wait-reason.ts";

/** Fields of Request that its document does not have, or has with another name. */
export const requestResolvers = {
  id: (request: RequestDocument) => request._id,
  requestId: (request: RequestDocument) => request._id,
  executionState: (request: RequestDocument) => executionStateOfRequest(request.status),
  title: titleOf,
  tags: ({ tags }: RequestDocument) => tags ?? [],
  priority: ({ priority }: RequestDocument) => priority ?? "normal",
  context: (request: RequestDocument) => contextOf(request),
  questions: ({ questions }: RequestDocument) => questions.map(({ question }) => question),
  traceId: traceIdOf,
  traceUrl(request: RequestDocument, _: unknown, { traceUrlTemplate }: GraphqlContext) {
    const traceId = isSampled(request) ? traceIdOf(request) : null;
    return traceId && traceUrlTemplate ? traceUrlTemplate.replaceAll("{traceId}", traceId) : null;
  },
  openQuestions: ({ questions }: RequestDocument) => questions,
  waitReason: async (request: RequestDocument, _: unknown, { liveWorkers }: GraphqlContext) =>
    requestWaitReason(request, await liveWorkers()),
  modelWait: ({ planning }: RequestDocument) => planning.wait ?? null,
  diagnosis: (request: RequestDocument, _: unknown, context: GraphqlContext) =>
    readDiagnosis(request, context),
  plan: (request: RequestDocument, _: unknown, { reads }: GraphqlContext) => reads.plan(request.planId),
  plans: (request: RequestDocument, _: unknown, { reads }: GraphqlContext) => reads.plansOf(request),
  async plansConnection({ _id }: RequestDocument, page: PageArguments, { reads }: GraphqlContext) {
    return toConnection(await reads.planPage(_id, parsePage(page, "plans")), planCursor);
  },
  modelCalls: (request: RequestDocument, _: unknown, { reads }: GraphqlContext) =>
    reads.modelCalls(request._id),
  async modelCallsConnection({ _id }: RequestDocument, page: PageArguments, { reads }: GraphqlContext) {
    return toConnection(await reads.modelCallPage(_id, parsePage(page, "model calls")), modelCallCursor);
  },
  seq: ({ _id }: RequestDocument, _: unknown, { reads }: GraphqlContext) => reads.lastSeq(_id),
  events: ({ _id }: RequestDocument, page: PageArguments, context: GraphqlContext) =>
    readEventPage(_id, page, context),
  modelUse: ({ modelLimits, modelUse }: RequestDocument) => ({
    limits: modelLimits ?? {},
    ...(modelUse ?? NO_USE),
  }),
  maxReplans: ({ replans }: RequestDocument) => replans?.max ?? 0,
  replans: ({ replans }: RequestDocument) => replans?.made ?? 0,
  answerRequested: ({ wantsAnswer }: RequestDocument) => wantsAnswer === true,
  planningStartedAt: (request: RequestDocument) => request.planning.startedAt,
  planningFinishedAt: (request: RequestDocument) => request.planning.finishedAt,
};

/** Fields of types that name a request by its id; they are read when they are selected. */
export const namedRequestResolvers = {
  async title({ requestId }: { requestId: RequestId }, _: unknown, context: GraphqlContext) {
    const request = await context.reads.request(requestId);
    return request && titleOf(request, _, context);
  },
};

/** Reads the plan only for a request without a sentence. */
async function titleOf({ query, planId }: RequestDocument, _: unknown, { reads }: GraphqlContext) {
  return requestTitle(query, query === null ? ((await reads.plan(planId))?.stepTools ?? []) : []);
}

/** `traceparent` is {version}-{trace}-{span}-{flags}. */
function traceIdOf({ trace }: RequestDocument): string | null {
  return trace?.traceparent.split("-")[1] ?? null;
}

/** False for a trace whose spans no service sends: its address would show nothing. */
function isSampled({ trace }: RequestDocument): boolean {
  return (Number.parseInt(trace?.traceparent.split("-")[3] ?? "0", 16) & 1) === 1;
}
