import {
  DIAGNOSTIC,
  graphql,
  type Operation,
  PLAN_RUN,
  REQUEST_DIAGNOSIS,
  REQUEST_RUN,
  type ResultOf,
  STEP_RUN,
  STEP_VALUES,
} from "@planwright/client";

const ACCEPTED = graphql(`fragment Accepted on Request { requestId planId status version plan { status } }`);
/** The fields that a mutation returns of the request that it changed. */
export type Accepted = ResultOf<typeof ACCEPTED>;
/** A mutation that answers with the request that it changed. */
export type ChangeOperation<Variables> = Operation<{ accepted: Accepted }, Variables>;

export const CREATE_PLAN = graphql(
  `mutation (
    $query: String!, $context: ContextInput, $profile: String, $policy: JSON,
    $execute: Boolean!, $tags: [String!], $priority: Priority! = normal, $maxReplans: Int! = 0, $answer: Boolean! = false, $limits: ModelLimitsInput, $key: String!
  ) {
    accepted: createPlan(
      query: $query, context: $context, profile: $profile, policy: $policy,
      execute: $execute, tags: $tags, priority: $priority, maxReplans: $maxReplans, answer: $answer, limits: $limits, idempotencyKey: $key
    ) { ...Accepted }
  }`,
  [ACCEPTED],
);
export const SUBMIT_PLAN = graphql(
  `mutation (
    $plan: JSON!, $query: String,
    $execute: Boolean!, $tags: [String!], $priority: Priority! = normal, $maxReplans: Int! = 0, $answer: Boolean! = false, $limits: ModelLimitsInput, $key: String!
  ) {
    accepted: submitPlan(
      plan: $plan, query: $query,
      execute: $execute, tags: $tags, priority: $priority, maxReplans: $maxReplans, answer: $answer, limits: $limits, idempotencyKey: $key
    ) { ...Accepted }
  }`,
  [ACCEPTED],
);
export const EXECUTE_PLAN = graphql(
  `mutation ($requestId: ID!, $hash: String) {
    accepted: executePlan(requestId: $requestId, planHash: $hash) { ...Accepted }
  }`,
  [ACCEPTED],
);
export const CANCEL = graphql(
  `mutation ($requestId: ID!) { accepted: cancel(requestId: $requestId) { ...Accepted } }`,
  [ACCEPTED],
);
export const PAUSE = graphql(
  `mutation ($requestId: ID!) { accepted: pause(requestId: $requestId) { ...Accepted } }`,
  [ACCEPTED],
);
export const RESUME = graphql(
  `mutation ($requestId: ID!) { accepted: resume(requestId: $requestId) { ...Accepted } }`,
  [ACCEPTED],
);
export const RERUN = graphql(
  `mutation ($requestId: ID!, $from: ID, $arguments: [StepArguments!], $acceptRepeat: [ID!], $key: String!) {
    accepted: rerun(
      requestId: $requestId, from: $from, arguments: $arguments, acceptRepeat: $acceptRepeat, execute: true, idempotencyKey: $key
    ) { ...Accepted }
  }`,
  [ACCEPTED],
);
export const REPLAN = graphql(
  `mutation ($requestId: ID!, $note: String, $key: String!) {
    accepted: replan(requestId: $requestId, note: $note, idempotencyKey: $key) { ...Accepted }
  }`,
  [ACCEPTED],
);
/**
 * Also returns which completed steps are kept and which are called again; null when the same amendment was
 * made before.
 */
export const AMEND_PLAN = graphql(
  `mutation (
    $requestId: ID!, $plan: JSON, $patch: JSON, $restoreVersion: Int, $fromVersion: Int, $acceptRepeat: [ID!],
    $execute: Boolean!, $key: String!
  ) {
    amended: amendPlan(
      requestId: $requestId, plan: $plan, patch: $patch, restoreVersion: $restoreVersion,
      fromVersion: $fromVersion, acceptRepeat: $acceptRepeat, execute: $execute, idempotencyKey: $key
    ) {
      request { ...Accepted } carried repeated notRepeated
    }
  }`,
  [ACCEPTED],
);
export const ANSWER_QUESTIONS = graphql(
  `mutation ($requestId: ID!, $answers: [String!]!) {
    accepted: answerQuestions(requestId: $requestId, answers: $answers) { ...Accepted }
  }`,
  [ACCEPTED],
);
export const APPROVE = graphql(
  `mutation ($requestId: ID!, $stepId: ID!, $hash: String!, $approved: Boolean!, $reason: String) {
    accepted: approve(requestId: $requestId, stepId: $stepId, approvalHash: $hash, approved: $approved, reason: $reason) { ...Accepted }
  }`,
  [ACCEPTED],
);
export const RESOLVE_IN_DOUBT = graphql(
  `mutation ($requestId: ID!, $decisions: [InDoubtDecision!]!) {
    accepted: resolveManyInDoubt(requestId: $requestId, decisions: $decisions) { ...Accepted }
  }`,
  [ACCEPTED],
);

/** The diagnostics that submitting the plan would give; nothing is stored. */
export const VALIDATE_PLAN = graphql(
  `query ($plan: JSON!) {
    check: validatePlan(plan: $plan) { valid diagnostics { ...RunDiagnostic } }
  }`,
  [DIAGNOSTIC],
);

const BULK_ANSWER = graphql(`
  fragment BulkFacts on BulkAnswer {
    count changed refused mayRepeat hasMore endCursor
    results { requestId version status title changed error { code message remedy } }
  }
`);

/** The results of one call of a bulk mutation; of a dry run, what it would change. */
export type BulkAnswer = ResultOf<typeof BULK_ANSWER>;
/** The result for one request. */
export type BulkResult = BulkAnswer["results"][number];

export const CANCEL_REQUESTS = graphql(
  `mutation ($filter: RequestFilter, $requests: [RequestVersion!], $dryRun: Boolean!, $after: String) {
    answer: cancelRequests(filter: $filter, requests: $requests, dryRun: $dryRun, after: $after) { ...BulkFacts }
  }`,
  [BULK_ANSWER],
);
export const RESUME_REQUESTS = graphql(
  `mutation ($filter: RequestFilter, $requests: [RequestVersion!], $dryRun: Boolean!, $after: String) {
    answer: resumeRequests(filter: $filter, requests: $requests, dryRun: $dryRun, after: $after) { ...BulkFacts }
  }`,
  [BULK_ANSWER],
);
export const RERUN_REQUESTS = graphql(
  `mutation ($filter: RequestFilter, $requests: [RequestVersion!], $dryRun: Boolean!, $after: String, $from: ID, $key: String) {
    answer: rerunRequests(
      filter: $filter, requests: $requests, dryRun: $dryRun, after: $after, from: $from, idempotencyKey: $key
    ) { ...BulkFacts }
  }`,
  [BULK_ANSWER],
);
export const RETRY_FAILED_REQUESTS = graphql(
  `mutation ($filter: RequestFilter, $requests: [RequestVersion!], $dryRun: Boolean!, $after: String, $key: String) {
    answer: retryFailedRequests(
      filter: $filter, requests: $requests, dryRun: $dryRun, after: $after, idempotencyKey: $key
    ) { ...BulkFacts }
  }`,
  [BULK_ANSWER],
);

const WAITING = graphql(`fragment Waiting on WaitingWork { due oldest { since ageMs requestId } }`);
const FLEET = graphql(
  `fragment Fleet on Fleet {
    at
    workers { name kind takesWork hasModel startedAt seenAt silentMs holds }
    lostWorkers { name kind startedAt seenAt deadAt leasesLost }
    plans { ...Waiting }
    requests { ...Waiting }
  }`,
  [WAITING],
);

const WORKLOAD = graphql(
  `fragment Workload on Workload { at since ended failed running waiting oldestWaiting { since ageMs requestId } }`,
);

/** The workers of the service, and the work that waits for them. */
export type FleetRecord = ResultOf<typeof FLEET>;
/** Counts of the caller's tenant: requests that run, wait, or ended recently. */
export type WorkloadRecord = ResultOf<typeof WORKLOAD>;

export const READ_FLEET = graphql(`{ fleet { ...Fleet } workload { ...Workload } }`, [FLEET, WORKLOAD]);

const COST = graphql(`
  fragment Cost on ModelCost {
    calls failures unended unpriced inputTokens cachedInputTokens outputTokens costUsd
  }
`);
/** Sums over model calls. */
export type CostRecord = ResultOf<typeof COST>;

/** What the model calls of the caller's tenant cost within a time. */
export const READ_COSTS = graphql(
  `query ($from: DateTime!, $before: DateTime) {
    costs: modelCosts(from: $from, before: $before) {
      from before isComplete
      total { ...Cost } models { model cost { ...Cost } } requests { requestId title cost { ...Cost } }
    }
  }`,
  [COST],
);
/** The same, as it is read. */
export type CostsRecord = ResultOf<typeof READ_COSTS>["costs"];

const LISTED_NODE = graphql(`
  fragment ListedNode on Request {
    requestId status source query title createdAt error { code }
    plan {
      status error { code } finishedAt cancelRequestedAt pauseRequestedAt waitReason expiresAt mayHaveActed counts { inDoubt }
      stepsConnection(first: 1, filter: { status: [FAILED, IN_DOUBT, WAITING_APPROVAL] }) { nodes { tool status error { code } } }
    }
  }
`);
type ListedNode = ResultOf<typeof LISTED_NODE>;

/** A page of requests, newest first. A page of 50 reaches the API's cost limit for one document. */
export const LIST_REQUESTS = graphql(
  `query (
    $first: Int!, $after: String, $status: [RequestStatus!], $tag: String, $tool: String, $errorCode: String,
    $needs: RequestNeed, $createdFrom: DateTime, $createdBefore: DateTime, $calledTool: String,
    $calledFrom: DateTime, $calledBefore: DateTime
  ) {
    requests(
      first: $first, after: $after,
      filter: {
        status: $status, tag: $tag, tool: $tool, errorCode: $errorCode, needs: $needs, createdFrom: $createdFrom,
        createdBefore: $createdBefore, calledTool: $calledTool, calledFrom: $calledFrom, calledBefore: $calledBefore
      }
    ) { nodes { ...ListedNode } pageInfo { hasNextPage endCursor } }
  }`,
  [LISTED_NODE],
);

/** A request as `list` shows it. */
export type ListedRequest = ReturnType<typeof toListedRequest>;

/** The fields of a request that `list` shows. Pure. */
export function toListedRequest({ plan, error, ...request }: ListedNode) {
  const [step] = plan?.stepsConnection.nodes ?? [];
  const stepCode = step?.error?.code;
  const isStopped = stepCode === "CANCELLED";
  const asked = request.status === "NEEDS_INPUT" ? ("answer" as const) : null;
  const paused = plan?.status === "PAUSED" ? ("resume" as const) : null;
  return {
    ...request,
    /** The plan's status, and when a cancel or pause was requested. */
    plan: plan && {
      status: plan.status,
      finishedAt: plan.finishedAt,
      cancelRequestedAt: plan.cancelRequestedAt,
      pauseRequestedAt: plan.pauseRequestedAt,
    },
    /**
     * The error code of the failed or doubtful step, or else of the plan or the request; of a call that was
     * stopped, the code of what stopped it.
     */
    code: (isStopped ? null : stepCode) ?? plan?.error?.code ?? stepCode ?? error?.code ?? null,
    /** The tool of the first step that failed, is in doubt or waits for an approval. */
    tool: step?.tool ?? null,
    /** Number of steps and items that failed or were cancelled, and whose calls may have acted. */
    mayHaveActed: plan?.mayHaveActed ?? 0,
    /** The decision that it waits for. */
    needs: (plan && needOfPlan(plan)) ?? asked ?? paused,
    /** When that wait ends by itself; null: it waits for no person, or its wait has no end. */
    expiresAt: plan?.expiresAt ?? null,
  };
}

/** The decision that a plan waits for: a doubt comes before an approval. */
function needOfPlan(plan: NonNullable<ListedNode["plan"]>): "doubt" | "approval" | "sign-in" | null {
  const { waitReason, counts, stepsConnection } = plan;
  const statuses = stepsConnection.nodes.map(({ status }) => status);
  if (counts.inDoubt > 0 || waitReason === "in doubt" || statuses.includes("IN_DOUBT")) return "doubt";
  if (waitReason === "approval" || statuses.includes("WAITING_APPROVAL")) return "approval";
  return waitReason === "sign-in" ? "sign-in" : null;
}

const REQUEST_RECORD = graphql(
  `fragment RequestRecord on Request {
    ...RequestRun ...RequestDiagnosis
    modelCalls { purpose model finishReason inputTokens outputTokens latencyMs error { code message } createdAt endedAt }
    plans { planId version status createdAt finishedAt error { code message } }
    plan {
      ...PlanRun raw document planHash outputs outputReferences { name ref sizeBytes preview }
      steps { ...StepRun ...StepValues }
    }
  }`,
  [REQUEST_RUN, REQUEST_DIAGNOSIS, PLAN_RUN, STEP_RUN, STEP_VALUES],
);

/** A request with everything that reports show: its run, with the values of its steps and the calls of models. */
export type RequestRecord = ResultOf<typeof REQUEST_RECORD>;
/** Its current plan. */
export type PlanRecord = NonNullable<RequestRecord["plan"]>;

/** Reads a request with everything that reports show. */
export const READ_REQUEST = graphql(
  `query ($requestId: ID!) { request(requestId: $requestId) { ...RequestRecord } }`,
  [REQUEST_RECORD],
);

/** Everything recorded under a request, without secrets, as one document. */
export const READ_BUNDLE = graphql(`query ($requestId: ID!) { bundle: debugBundle(requestId: $requestId) }`);

/** The hash of a request's current plan. */
export const READ_PLAN_HASH = graphql(
  `query ($requestId: ID!) { request(requestId: $requestId) { plan { planHash version } } }`,
);

const TOOL = graphql(`
  fragment Tool on Tool {
    name server title description category inputSchema outputSchema observedOutput { outputs schema } annotations contract
  }
`);
const EXPLAINED_TOOL = graphql(
  `fragment ExplainedTool on Tool {
    ...Tool
    contractReport { fields { name value source why } problems }
    listedAt disconnectedSince
    calls { since count failures p50Ms p99Ms lastAt errors { code count } }
  }`,
  [TOOL],
);
const TOOL_SERVER = graphql(`
  fragment ToolServer on ToolServer {
    name state tools leftOut { tool reason } leftOutCount error stderrTail since nextAttemptAt
  }
`);

const LISTED_TOOL = graphql(
  `fragment ListedTool on Tool { ...Tool contractReport { fields { name source } problems } }`,
  [TOOL],
);

/** A tool that plans may use. */
export type ToolRecord = ResultOf<typeof TOOL>;
/** The same with the sources of its contract. */
export type ListedTool = ResultOf<typeof LISTED_TOOL>;
/** The same with the reasons for its contract, and how its recent calls ended. */
export type ExplainedTool = ResultOf<typeof EXPLAINED_TOOL>;
/** A tool server and its connection. */
export type ToolServer = ResultOf<typeof TOOL_SERVER>;

/** The tools that plans may use. */
export const LIST_TOOLS = graphql(`{ tools: getAvailableTools { ...Tool } }`, [TOOL]);
/** The same with the reasons for their contracts and how their recent calls ended, and the left-out tools. */
export const EXPLAIN_TOOLS = graphql(
  `{ tools: getAvailableTools { ...ExplainedTool } toolServers { name leftOut { tool reason } } }`,
  [EXPLAINED_TOOL],
);
/** The tools that plans may use with the sources of their contracts, and all tool servers. */
export const LIST_TOOLS_AND_SERVERS = graphql(
  `{ tools: getAvailableTools { ...ListedTool } toolServers { ...ToolServer } }`,
  [LISTED_TOOL, TOOL_SERVER],
);

/** The tools that plans may use, and how their recent calls ended. */
export const LIST_CALLS = graphql(`{
  tools: getAvailableTools { name server calls { since count failures p50Ms p99Ms lastAt errors { code count } } }
}`);
/** What `doctor` reads: the tool servers, and how calls of their tools ended. */
export const READ_HEALTH = graphql(
  `{
    toolServers { ...ToolServer signIn { isNeeded } }
    tools: getAvailableTools { name server calls { count p99Ms } }
  }`,
  [TOOL_SERVER],
);
/** The same, as it is read. */
export type HealthRecord = ResultOf<typeof READ_HEALTH>;
/** A tool and how its recent calls ended. */
export type CalledTool = ResultOf<typeof LIST_CALLS>["tools"][number];

/** The sign-ins at tool servers, with the addresses at which a person signs in. */
export const READ_SIGN_INS = graphql(`{
  toolServers { name signIn { isNeeded url since expiresAt error } }
}`);

/** The sign-in at a tool server. */
export type SignInRecord = NonNullable<ResultOf<typeof READ_SIGN_INS>["toolServers"][number]["signIn"]>;

/** Asks all executors to connect to a tool server anew. */
export const RELOAD_SERVER = graphql(`
  mutation ($name: String!) {
    reload: reloadToolServer(name: $name) { name executors { executor outcome reason stderrTail } }
  }
`);
/** Suggests contracts, and asks a model if there is one. */
export const SUGGEST_CONTRACTS = graphql(`
  mutation ($server: String!) {
    suggested: suggestContracts(server: $server) {
      server state note tools { tool fields { field value reason source against } }
    }
  }
`);
/** Suggested contracts of a server's tools. */
export type SuggestedContracts = ResultOf<typeof SUGGEST_CONTRACTS>["suggested"];
/** How the executors reloaded a server. */
export type ServerReload = ResultOf<typeof RELOAD_SERVER>["reload"];
