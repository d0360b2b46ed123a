import { type JsonValue, JsonValueSchema } from "@planwright/plan";
import { z } from "zod";
import type { Operation } from "./api-client.ts";
import { DiagnosticSchema, FOLLOW_FIELDS, FULL_FIELDS, RequestSnapshotSchema } from "./request-snapshot.ts";

const AcceptedSchema = z.object({
  requestId: z.string(),
  planId: z.string(),
  status: z.string(),
  version: z.number(),
  /** Null while there is none. */
  plan: z.object({ status: z.string() }).nullable(),
});
/** What a mutation says of the request that it changed. */
export type Accepted = z.infer<typeof AcceptedSchema>;
const IDS = "{ requestId planId status version plan { status } }";

const AcceptedAnswer = z.object({ accepted: AcceptedSchema }).transform(({ accepted }) => accepted);

/** A mutation that answers with the request it is about. */
function mutation(declared: string, field: string): Operation<Accepted> {
  return { document: `mutation (${declared}) { accepted: ${field} ${IDS} }`, schema: AcceptedAnswer };
}

const RequestAnswer = z.object({ request: RequestSnapshotSchema }).transform(({ request }) => request);

const reading = (fields: string) => ({
  document: `query ($requestId: ID!) { request(requestId: $requestId) { ${fields} } }`,
  schema: RequestAnswer,
});
/** The request without anything that may be large. */
export const READ_PROGRESS = reading(FOLLOW_FIELDS);
/** The same, again after each change. */
export const FOLLOW_PROGRESS = {
  document: `subscription ($requestId: ID!) { request: requestUpdated(requestId: $requestId) { ${FOLLOW_FIELDS} } }`,
  schema: RequestAnswer,
};
/** The request with everything that reports show. */
export const READ_REQUEST = reading(FULL_FIELDS);

/** Everything recorded under a request, without secrets, as one document. */
export const READ_BUNDLE: Operation<JsonValue> = {
  document: "query ($requestId: ID!) { bundle: debugBundle(requestId: $requestId) }",
  schema: z.object({ bundle: JsonValueSchema }).transform(({ bundle }) => bundle),
};

const OF_BOTH =
  "$execute: Boolean!, $tags: [String!], $maxReplans: Int! = 0, $answer: Boolean! = false, $limits: ModelLimitsInput, $key: String!";
const GIVEN =
  "execute: $execute, tags: $tags, maxReplans: $maxReplans, answer: $answer, limits: $limits, idempotencyKey: $key";
export const CREATE_PLAN = mutation(
  `$query: String!, $context: ContextInput, $profile: String, $policy: JSON, ${OF_BOTH}`,
  `createPlan(query: $query, context: $context, profile: $profile, policy: $policy, ${GIVEN})`,
);
export const SUBMIT_PLAN = mutation(
  `$plan: JSON!, $query: String, ${OF_BOTH}`,
  `submitPlan(plan: $plan, query: $query, ${GIVEN})`,
);
export const EXECUTE_PLAN = mutation("$requestId: ID!", "executePlan(requestId: $requestId)");
export const CANCEL = mutation("$requestId: ID!", "cancel(requestId: $requestId)");
export const PAUSE = mutation("$requestId: ID!", "pause(requestId: $requestId)");
export const RESUME = mutation("$requestId: ID!", "resume(requestId: $requestId)");
export const RERUN = mutation(
  "$requestId: ID!, $from: ID, $arguments: [StepArguments!], $key: String!",
  "rerun(requestId: $requestId, from: $from, arguments: $arguments, execute: true, idempotencyKey: $key)",
);
export const REPLAN = mutation(
  "$requestId: ID!, $note: String, $key: String!",
  "replan(requestId: $requestId, note: $note, idempotencyKey: $key)",
);
const Ids = z.array(z.string()).nullable();
/** What becomes of what had completed; null where the same wish was answered before. */
const AmendmentSchema = z.object({ request: AcceptedSchema, carried: Ids, repeated: Ids, notRepeated: Ids });
export const AMEND_PLAN = {
  document: `mutation ($requestId: ID!, $plan: JSON!, $execute: Boolean!, $key: String!) {
    amended: amendPlan(requestId: $requestId, plan: $plan, execute: $execute, idempotencyKey: $key) {
      request ${IDS} carried repeated notRepeated } }`,
  schema: z.object({ amended: AmendmentSchema }).transform(({ amended }) => amended),
};
export const ANSWER_QUESTIONS = mutation(
  "$requestId: ID!, $answers: [String!]!",
  "answerQuestions(requestId: $requestId, answers: $answers)",
);
export const APPROVE = mutation(
  "$requestId: ID!, $stepId: ID!, $hash: String!, $approved: Boolean!, $reason: String",
  "approve(requestId: $requestId, stepId: $stepId, approvalHash: $hash, approved: $approved, reason: $reason)",
);
export const RESOLVE_IN_DOUBT = mutation(
  "$requestId: ID!, $key: ID!, $resolution: InDoubtResolution!, $output: JSON, $reason: String, $attempt: Int",
  "resolveInDoubt(requestId: $requestId, stepKey: $key, resolution: $resolution, output: $output, reason: $reason, attempt: $attempt)",
);

const ToolSchema = z.object({
  name: z.string(),
  server: z.string(),
  title: z.string().nullable(),
  description: z.string(),
  category: z.string(),
  inputSchema: JsonValueSchema,
  outputSchema: JsonValueSchema,
  observedOutput: z.object({ outputs: z.number(), schema: JsonValueSchema }).nullable(),
  annotations: JsonValueSchema,
  contract: JsonValueSchema,
});
export type ToolSnapshot = z.infer<typeof ToolSchema>;

const ExplainedToolSchema = ToolSchema.extend({
  contractReport: z.object({
    fields: z.array(
      z.object({ name: z.string(), value: JsonValueSchema, source: z.string(), why: z.string() }),
    ),
    problems: z.array(z.string()),
  }),
});
export type ExplainedTool = z.infer<typeof ExplainedToolSchema>;

const TOOL_FIELDS =
  "name server title description category inputSchema outputSchema observedOutput { outputs schema } annotations contract";

/** The tools that plans may use. */
export const LIST_TOOLS: Operation<ToolSnapshot[]> = {
  document: `{ tools: getAvailableTools { ${TOOL_FIELDS} } }`,
  schema: z.object({ tools: z.array(ToolSchema) }).transform(({ tools }) => tools),
};

/** The tools that plans may use, with the reasons for their contracts. */
export const EXPLAIN_TOOLS: Operation<ExplainedTool[]> = {
  document: `{ tools: getAvailableTools { ${TOOL_FIELDS} contractReport { fields { name value source why } problems } } }`,
  schema: z.object({ tools: z.array(ExplainedToolSchema) }).transform(({ tools }) => tools),
};

const ToolServerSchema = z.object({
  name: z.string(),
  state: z.string(),
  tools: z.number(),
  error: z.string().nullable(),
  lastWords: z.string().nullable(),
  since: z.string(),
  nextAttemptAt: z.string().nullable(),
});
export type ToolServerSnapshot = z.infer<typeof ToolServerSchema>;

/** The tools that plans may use, with their servers, and where the connections to them stand. */
export const LIST_TOOLS_AND_SERVERS: Operation<{
  tools: ToolSnapshot[];
  toolServers: ToolServerSnapshot[];
}> = {
  document: `{ tools: getAvailableTools { ${TOOL_FIELDS} } toolServers { name state tools error lastWords since nextAttemptAt } }`,
  schema: z.object({ tools: z.array(ToolSchema), toolServers: z.array(ToolServerSchema) }),
};

const ListedErrorSchema = z.object({ code: z.string() }).nullable();
const ListedPlanSchema = z.object({
  status: z.string(),
  error: ListedErrorSchema,
  finishedAt: z.string().nullable(),
  cancelRequestedAt: z.string().nullable(),
  pauseRequestedAt: z.string().nullable(),
  waitReason: z.string().nullable(),
  counts: z.object({ inDoubt: z.number() }),
  stepsConnection: z.object({
    nodes: z.array(z.object({ tool: z.string(), status: z.string(), error: ListedErrorSchema })),
  }),
});
type ListedPlan = z.infer<typeof ListedPlanSchema>;

/** What only people can do for a plan: settle a doubt before they approve. */
function needOfPlan({
  waitReason,
  counts,
  stepsConnection: { nodes },
}: ListedPlan): "doubt" | "approval" | null {
  const statuses = nodes.map(({ status }) => status);
  if (counts.inDoubt > 0 || waitReason === "in doubt" || statuses.includes("IN_DOUBT")) return "doubt";
  return waitReason === "approval" || statuses.includes("WAITING_APPROVAL") ? "approval" : null;
}

const ListedNodeSchema = z
  .object({
    requestId: z.string(),
    status: z.string(),
    source: z.string(),
    query: z.string().nullable(),
    createdAt: z.string(),
    error: ListedErrorSchema,
    plan: ListedPlanSchema.nullable(),
  })
  .transform(({ plan, error, ...request }) => {
    const [step] = plan?.stepsConnection.nodes ?? [];
    const asked = request.status === "NEEDS_INPUT" ? ("answer" as const) : null;
    return {
      ...request,
      /** Where the plan stands, and what was asked of it. */
      plan: plan && {
        status: plan.status,
        finishedAt: plan.finishedAt,
        cancelRequestedAt: plan.cancelRequestedAt,
        pauseRequestedAt: plan.pauseRequestedAt,
      },
      /** Why it failed, or what is in doubt. */
      code: step?.error?.code ?? plan?.error?.code ?? error?.code ?? null,
      /** Of the first step that failed, is in doubt or waits for an approval. */
      tool: step?.tool ?? null,
      /** What only people can do for it. */
      needs: (plan && needOfPlan(plan)) ?? asked,
      /** When its plan was over; before that, when it was created. */
      when: plan?.finishedAt ?? request.createdAt,
    };
  });

/** A page of requests, newest first: one of 25 costs what one document may cost. */
export const LIST_REQUESTS = {
  document: `query ($first: Int!, $after: String, $status: [RequestStatus!], $tag: String, $tool: String, $errorCode: String, $needs: RequestNeed, $createdFrom: DateTime) {
    requests(first: $first, after: $after, filter: { status: $status, tag: $tag, tool: $tool, errorCode: $errorCode, needs: $needs, createdFrom: $createdFrom }) { nodes { requestId status source query createdAt error { code }
      plan { status error { code } finishedAt cancelRequestedAt pauseRequestedAt waitReason counts { inDoubt }
        stepsConnection(first: 1, filter: { status: [FAILED, IN_DOUBT, WAITING_APPROVAL] }) { nodes { tool status error { code } } } } }
      pageInfo { hasNextPage endCursor } } }`,
  schema: z
    .object({
      requests: z.object({
        nodes: z.array(ListedNodeSchema),
        pageInfo: z.object({ hasNextPage: z.boolean(), endCursor: z.string().nullable() }),
      }),
    })
    .transform(({ requests }) => requests),
};
export type ListedRequest = z.infer<typeof ListedNodeSchema>;

/** What submitting a plan would find; nothing is stored. */
export const VALIDATE_PLAN = {
  document:
    "query ($plan: JSON!) { check: validatePlan(plan: $plan) { valid diagnostics { code severity stepId path message suggestion } } }",
  schema: z
    .object({ check: z.object({ valid: z.boolean(), diagnostics: z.array(DiagnosticSchema) }) })
    .transform(({ check }) => check),
};

/** Findings as a refusal carries them. */
export const DiagnosticsSchema = z.array(DiagnosticSchema);
