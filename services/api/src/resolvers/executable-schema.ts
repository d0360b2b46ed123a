import { makeExecutableSchema } from "@graphql-tools/schema";
import { type FailedUnit, remedyWhile, stepAdvice } from "@planwright/engine";
import {
  ACTIVE_REQUEST_STATUSES,
  digitsOf,
  exactNumberOf,
  executionStateOfRequest,
  isExactNumber,
  type OpenQuestion,
  type ProblemPlace,
  printPlace,
  type RequestId,
  remedyOfProblem,
  requestTitle,
  textOfOutsider,
  toExecutionState,
} from "@planwright/plan";
import {
  contextOf,
  type GivenAnswer,
  modelCallCursor,
  NO_USE,
  type PlanHead,
  planCursor,
  type RequestDocument,
} from "@planwright/store";
import {
  GraphQLError,
  GraphQLID,
  type GraphQLResolveInfo,
  GraphQLScalarType,
  type GraphQLSchema,
  GraphQLString,
  Kind,
  type ValueNode,
} from "graphql";
import { DateTimeResolver, JSONResolver } from "graphql-scalars";
import { hasScope } from "../access/gate.ts";
import { type FilterArgument, parseLiveFilter } from "../arguments/parse-filter.ts";
import { parseWait, type WaitInput } from "../arguments/parse-options.ts";
import { readDiagnosis } from "../diagnosis/read-diagnosis.ts";
import { isOnlyOfWait } from "../errors/format-error.ts";
import { noteLogFacts } from "../errors/telemetry.ts";
import type { RequestChange, RequestSnapshot } from "../feeds/request-feed.ts";
import type { WaitOptions } from "../feeds/rest-waits.ts";
import { checkOperations, type OperationTable } from "../graphql/operations.ts";
import { SDL } from "../graphql/sdl.ts";
import { createAnswerBytes } from "../load/answer-bytes.ts";
import { type PageArguments, parsePage, toConnection } from "../operation/connection.ts";
import type { GraphqlContext } from "../operation/context.ts";
import { type CostTime, readCosts, toFleetView } from "../operation/fleet-view.ts";
import { type OutputPageArguments, readOutputPage } from "../operation/output-page.ts";
import { createReads } from "../operation/reads.ts";
import {
  type ReloadInput,
  readToolCalls,
  readToolListing,
  reloadToolServer,
  type SuggestInput,
  suggestContracts,
  type ToolView,
  toServerView,
  toToolView,
} from "../operation/tool-view.ts";
import { type AmendInput, amendPlan } from "../plans/amend-plan.ts";
import { type AnswersInput, answerQuestions } from "../plans/answer-questions.ts";
import {
  type BulkRerunInput,
  cancelRequests,
  rerunRequests,
  resumeRequests,
  retryFailedRequests,
  type SelectionInput,
} from "../plans/bulk-mutations.ts";
import { createPlan, type SentenceInput } from "../plans/create-plan.ts";
import {
  type ApprovalInput,
  approve,
  type ResolutionInput,
  type ResolutionsInput,
  resolveInDoubt,
  resolveManyInDoubt,
} from "../plans/decisions.ts";
import { type ExecuteInput, executePlan } from "../plans/execute-plan.ts";
import {
  findPlanHead,
  findPlansOfRequest,
  findRequest,
  type RequestPageArguments,
  readRequestPage,
} from "../plans/find-request.ts";
import { cancelRequest, pauseRequest, resumeRequest } from "../plans/pause.ts";
import { type ReplanInput, type RerunInput, replan, rerun } from "../plans/rerun.ts";
import { requestWaitReason, type StepCounts } from "../plans/step-views.ts";
import { checkPlan, type SubmitInput, submitPlan } from "../plans/submit-plan.ts";
import { debugBundle } from "./debug-bundle.ts";
import { type PastRequest, readEventPage, readRequestAt } from "./journal.ts";
import {
  createPlanWithRequestId,
  type ExecutionResults,
  executeByRequestId,
  malformedIsUnknown,
  newestExecutions,
  newestPlans,
  type OlderSentenceInput,
  readResults,
} from "./older-api.ts";
import { modelCallResolvers, planResolvers, readCounts, stepResolvers } from "./plan-resolvers.ts";

/** An error of planning with its place, from which its remedy follows. */
function placed<E extends object>(
  error: E | null | undefined,
  place: ProblemPlace,
): (E & { place: ProblemPlace }) | null {
  return error ? { ...error, place } : null;
}

/** A request, now or at an entry of its journal. */
type ShownRequest = RequestDocument & Partial<PastRequest>;

/** Fields of Request that its document does not have, or has with another name. */
const requestResolvers = {
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
  error: ({ error, replans }: RequestDocument) =>
    placed(error, replans && replans.made > 0 ? "replan" : "first plan"),
  answerError: ({ answerError }: RequestDocument) => placed(answerError, "answer"),
  modelWait: ({ planning: { wait } }: RequestDocument) =>
    wait && { ...wait, error: placed(wait.error, "wait") },
  diagnosis: (request: RequestDocument, _: unknown, context: GraphqlContext) =>
    readDiagnosis(request, context),
  plan: (request: ShownRequest, _: unknown, { reads }: GraphqlContext) =>
    request.past ? request.past.plan : reads.plan(request.planId),
  plans: (request: RequestDocument, _: unknown, { reads }: GraphqlContext) => reads.plansOf(request),
  async plansConnection({ _id }: RequestDocument, page: PageArguments, { reads }: GraphqlContext) {
    return toConnection(await reads.planPage(_id, parsePage(page, "plans")), planCursor);
  },
  modelCalls: (request: RequestDocument, _: unknown, { reads }: GraphqlContext) =>
    reads.modelCalls(request._id),
  async modelCallsConnection({ _id }: RequestDocument, page: PageArguments, { reads }: GraphqlContext) {
    return toConnection(await reads.modelCallPage(_id, parsePage(page, "model calls")), modelCallCursor);
  },
  seq: ({ _id, past }: ShownRequest, _: unknown, { reads }: GraphqlContext) =>
    past ? past.seq : reads.lastSeq(_id),
  at: ({ past }: ShownRequest) => past?.at ?? null,
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
const namedRequestResolvers = {
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

/** Fields of Query. */
const queryResolvers = {
  request: (
    _: unknown,
    { requestId, at }: { requestId: string; at?: number | null },
    context: GraphqlContext,
  ) =>
    at === null || at === undefined ? findRequest(context, requestId) : readRequestAt(requestId, at, context),
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
  debugBundle: (
    _: unknown,
    { requestId }: { requestId: string },
    context: GraphqlContext,
    { schema }: GraphQLResolveInfo,
  ) => debugBundle(context, requestId, schema),
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
    const may = { readTexts: hasScope(caller, "operate"), signIn: hasScope(caller, "admin") };
    const [servers, signIns] = await Promise.all([store.toolServers(), store.signIns()]);
    const signInOf = new Map(signIns.map((signIn) => [signIn.server, signIn]));
    return servers.map((server) => toServerView(server, signInOf.get(server.server), may));
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

/** Fields of Mutation. */
const mutationResolvers = {
  createPlan: mutation((context, input: SentenceInput & WaitInput) =>
    acceptAndWait(context, input, () => createPlan(context, input)),
  ),
  submitPlan: mutation((context, input: SubmitInput & WaitInput) =>
    acceptAndWait(context, input, () => submitPlan(context, input)),
  ),
  executePlan: mutation((context, input: ExecuteInput) => executePlan(context, input)),
  cancel: mutation((context, { requestId }: RequestIdOnly) => cancelRequest(context, requestId)),
  answerQuestions: mutation((context, input: AnswersInput) => answerQuestions(context, input)),
  pause: mutation((context, { requestId }: RequestIdOnly) => pauseRequest(context, requestId)),
  resume: mutation((context, { requestId }: RequestIdOnly) => resumeRequest(context, requestId)),
  approve: mutation((context, input: ApprovalInput) => approve(context, input)),
  resolveInDoubt: mutation((context, input: ResolutionInput) => resolveInDoubt(context, input)),
  resolveManyInDoubt: mutation((context, input: ResolutionsInput) => resolveManyInDoubt(context, input)),
  rerun: mutation((context, input: RerunInput) => rerun(context, input)),
  amendPlan: mutation((context, input: AmendInput) => amendPlan(context, input)),
  cancelRequests: mutation((context, input: SelectionInput) => cancelRequests(context, input)),
  resumeRequests: mutation((context, input: SelectionInput) => resumeRequests(context, input)),
  rerunRequests: mutation((context, input: BulkRerunInput & { from?: string | null }) =>
    rerunRequests(context, input),
  ),
  retryFailedRequests: mutation((context, input: BulkRerunInput) => retryFailedRequests(context, input)),
  replan: mutation((context, input: ReplanInput) => replan(context, input)),
  reloadToolServer: mutation((context, input: ReloadInput) => reloadToolServer(context, input)),
  suggestContracts: mutation((context, input: SuggestInput) => suggestContracts(context, input)),
  createPlanWithRequestId: mutation((context, input: OlderSentenceInput) =>
    createPlanWithRequestId(context, input),
  ),
  createPlanWithWorkflow: mutation((context, input: OlderSentenceInput) =>
    createPlanWithRequestId(context, input),
  ),
  executeByRequestId: mutation((context, { requestId }: RequestIdOnly) =>
    malformedIsUnknown(requestId, () => executeByRequestId(context, requestId)),
  ),
} satisfies Record<keyof OperationTable["mutation"], unknown>;

/** Clears the reads of earlier fields in the same operation, so that the result is read again. */
function mutation<Arguments, Result>(
  run: (context: GraphqlContext, input: Arguments) => Promise<Result>,
): (_: unknown, input: Arguments, context: GraphqlContext) => Promise<Result> {
  return (_, input, context) => {
    context.reads.forget();
    return run(context, input);
  };
}

/**
 * Accepts a request and returns it when it has ended or waits for a person, or its state after waitMs. When
 * too many clients wait, or the database fails meanwhile, the accepted request is returned at once.
 * @param accept - stores the request
 */
async function acceptAndWait(
  context: GraphqlContext,
  { idempotencyKey, ...input }: WaitInput & { idempotencyKey?: string | null },
  accept: () => Promise<RequestDocument>,
): Promise<RequestDocument> {
  const waitMs = parseWait(input);
  if (waitMs === 0) return accept();
  const isWatchOpen = context.feeds.listen();
  const request = await accept();
  // The request of a repeated key may have ended long ago. A new one was stored after the change stream was
  // open.
  const isNew = isWatchOpen && (idempotencyKey ?? null) === null;
  const isActive = ACTIVE_REQUEST_STATUSES.includes(request.status);
  return waitForEnd(context, request, {
    waitMs,
    acceptedPlanId: isNew && isActive ? request.planId : undefined,
  });
}

async function waitForEnd(
  context: GraphqlContext,
  request: RequestDocument,
  options: Pick<WaitOptions, "waitMs" | "acceptedPlanId">,
): Promise<RequestDocument> {
  context.releaseSlot?.();
  try {
    const { feeds, tenant, reads, signal } = context;
    const last = await feeds.untilAtRest(tenant, request._id, { ...options, signal });
    if (!last) return request;
    reads.primeState(last);
    return last.request;
  } catch (error) {
    if (isOnlyOfWait(error)) return request;
    throw error;
  }
}

/** Fields of Subscription. */
const subscriptionResolvers = {
  requestUpdated: {
    async subscribe(_: unknown, { requestId }: { requestId: string }, context: GraphqlContext) {
      try {
        const request = await findRequest(context, requestId);
        return await context.feeds.follow(context.tenant, request._id);
      } catch (error) {
        noteLogFacts(error, context.operation.logFacts());
        throw error;
      }
    },
    /** Uses new reads for each result, which all followers of the request share. */
    resolve(snapshot: RequestSnapshot, _: unknown, context: GraphqlContext) {
      beginAnswer(context);
      context.reads.primeSnapshot(snapshot);
      return snapshot.request;
    },
  },
  requestsUpdated: {
    async subscribe(_: unknown, { filter }: { filter?: FilterArgument | null }, context: GraphqlContext) {
      return context.feeds.followList(context.tenant, parseLiveFilter(filter));
    },
    /** As above, for all followers of lists. */
    resolve(change: RequestChange, _: unknown, context: GraphqlContext) {
      beginAnswer(context);
      if (change.kind !== "CHANGED") return { requestId: null, ...change, request: null };
      const { kind, requestId, changed } = change;
      context.reads.primeState(changed);
      return { kind, requestId, request: changed.request };
    },
  },
};

/** Replaces the reads of the earlier result. */
function beginAnswer(context: GraphqlContext): void {
  context.nowMs = Date.now();
  context.bytes = createAnswerBytes(context.bytes.limits, context);
  // A result cannot be refused: later states replace it.
  context.bytes.waitWithoutTimeout();
  context.reads = createReads(context.store, context.tenant, context.bytes);
}

/** The fields of a plan that an Execution needs. */
type ExecutedHead = Pick<PlanHead, "_id" | "status">;

/** Fields of Execution: the execution of a plan for older clients. */
const executionResolvers = {
  id: (plan: ExecutedHead) => plan._id,
  planId: (plan: ExecutedHead) => plan._id,
  executionState: (plan: ExecutedHead) => toExecutionState(plan.status),
  totalExecutions: count("total"),
  successful: count("completed"),
  failed: count("failed"),
  skipped: count("skipped"),
  results: result("results"),
  outputs: result("outputs"),
  errors: result("errors"),
  plan: (plan: ExecutedHead) => plan,
};

function count(field: keyof StepCounts) {
  return async (plan: ExecutedHead, _: unknown, { reads }: GraphqlContext) =>
    (await readCounts(plan._id, reads))[field];
}

function result<Field extends keyof ExecutionResults>(field: Field) {
  return async (plan: ExecutedHead, _: unknown, context: GraphqlContext) =>
    (await readResults(plan._id, context))[field];
}

/**
 * Fields of StepError that are not recorded. `unit` is the step; absent for errors of plans. `place` is
 * that of an error of planning in the journal.
 */
const stepErrorResolvers = {
  remedy({ code, unit, place }: { code: string; unit?: FailedUnit; place?: ProblemPlace }): string {
    if (place) return remedyOfProblem(code, place);
    const { why, remedy } = stepAdvice(code, undefined, unit);
    if (unit?.status === "COMPLETED") return `${why} The step has completed: nothing is to be done.`;
    if (unit?.status === "IN_DOUBT") return `${why} ${remedyWhile("in doubt", code)}`;
    return `${why} ${unit?.status === "RETRYING" ? remedyWhile("tried again", code) : remedy}`;
  },
};

/** Fields of Problem that are not recorded. `place` is absent for errors of model calls. */
const problemResolvers = {
  remedy: ({ code, place = "event" }: { code: string; place?: ProblemPlace }) => remedyOfProblem(code, place),
};

/** Fields of OpenQuestion: null for a question of a model that names no argument. */
const openQuestionResolvers = {
  stepId: ({ about }: OpenQuestion) => about?.stepId ?? null,
  tool: ({ about }: OpenQuestion) => about?.tool ?? null,
  parameter: ({ about }: OpenQuestion) => (about ? printPlace(about.keys) : null),
  schema: ({ about }: OpenQuestion) => about?.schema ?? null,
};

/** Fields of Answer. */
const answerResolvers = {
  stepId: ({ gives }: GivenAnswer) => gives?.stepId ?? null,
  parameter: ({ gives }: GivenAnswer) => (gives ? printPlace(gives.keys) : null),
  value: ({ gives }: GivenAnswer) => gives?.value ?? null,
};

/** Fields of Tool that are read only if they are selected, once for all tools of an operation. */
const toolResolvers = {
  listedAt: async (tool: ToolView, _: unknown, context: GraphqlContext) =>
    (await readToolListing(tool, context))?.listedAt ?? null,
  disconnectedSince: async (tool: ToolView, _: unknown, context: GraphqlContext) =>
    (await readToolListing(tool, context))?.disconnectedSince ?? null,
  calls: (tool: ToolView, _: unknown, context: GraphqlContext) => readToolCalls(tool, context),
};

/** Any JSON. Numbers in a document keep their digits, like those in variables. */
const JsonScalar = new GraphQLScalarType({ ...JSONResolver.toConfig(), parseLiteral: valueOfLiteral });

function valueOfLiteral(node: ValueNode, variables?: Readonly<Record<string, unknown>> | null): unknown {
  switch (node.kind) {
    case Kind.INT:
    case Kind.FLOAT:
      return exactNumberOf(node.value);
    case Kind.STRING:
      return textOfOutsider(node.value);
    case Kind.LIST:
      return node.values.map((value) => valueOfLiteral(value, variables));
    case Kind.OBJECT: {
      const fields = node.fields.map(({ name, value }) => [name.value, valueOfLiteral(value, variables)]);
      return Object.assign(Object.create(null), Object.fromEntries(fields));
    }
    default:
      return JSONResolver.parseLiteral(node, variables);
  }
}

/** A scalar for texts. Variables hold exact numbers as marked texts, which are no texts of the client. */
function refusingNumbers(scalar: GraphQLScalarType): GraphQLScalarType {
  const config = scalar.toConfig();
  return new GraphQLScalarType({
    ...config,
    parseValue(value) {
      if (isExactNumber(value))
        throw new GraphQLError(`${scalar.name} cannot represent a non string value: ${digitsOf(value)}`);
      return config.parseValue(value);
    },
  });
}

const StringScalar = refusingNumbers(GraphQLString);
const IdScalar = refusingNumbers(GraphQLID);

/**
 * The schema with its resolvers. @throws at start, for a resolver without a field in the schema, and for an
 * operation that does not say what it needs
 */
export function createSchema(): GraphQLSchema {
  const schema = makeExecutableSchema({
    typeDefs: SDL,
    resolvers: {
      DateTime: DateTimeResolver,
      JSON: JsonScalar,
      String: StringScalar,
      ID: IdScalar,
      Query: queryResolvers,
      Mutation: mutationResolvers,
      Subscription: subscriptionResolvers,
      Request: requestResolvers,
      BulkResult: namedRequestResolvers,
      CostOfRequest: namedRequestResolvers,
      OpenQuestion: openQuestionResolvers,
      Answer: answerResolvers,
      Plan: planResolvers,
      Step: stepResolvers,
      StepError: stepErrorResolvers,
      Problem: problemResolvers,
      ModelCall: modelCallResolvers,
      Execution: executionResolvers,
      Tool: toolResolvers,
    },
    resolverValidationOptions: { requireResolversToMatchSchema: "error" },
    // Half of the time of this call without them: the tests check the SDL, and no one else has this schema.
    assumeValidSDL: true,
    updateResolversInPlace: true,
  });
  checkOperations(schema);
  return schema;
}

type RequestIdOnly = { requestId: string };
