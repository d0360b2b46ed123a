import { executionStateOfRequest } from "@planwright/plan";
import { contextOf, modelCallCursor, NO_USE, planCursor, type RequestDocument } from "@planwright/store";
import { readDiagnosis } from "../diagnosis/read-diagnosis.ts";
import { readEventPage } from "../journal/event-connection.ts";
import { type PageArguments, parsePage, toConnection } from "../operation/connection.ts";
import type { GraphqlContext } from "../operation/context.ts";
import { requestWaitReason } from "../plans/wait-reason.ts";

/** Fields of Request that its document does not have under the same name. */
export const requestResolvers = {
  id: (request: RequestDocument) => request._id,
  requestId: (request: RequestDocument) => request._id,
  executionState: (request: RequestDocument) => executionStateOfRequest(request.status),
  tags: ({ tags }: RequestDocument) => tags ?? [],
  context: (request: RequestDocument) => contextOf(request),
  questions: ({ questions }: RequestDocument) => questions.map(({ question }) => question),
  openQuestions: ({ questions }: RequestDocument) => questions,
  waitReason: async (request: RequestDocument, _: unknown, { liveWorkers }: GraphqlContext) =>
    requestWaitReason(request, await liveWorkers()),
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
