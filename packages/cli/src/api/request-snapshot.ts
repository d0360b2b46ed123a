import { JsonObjectSchema, JsonValueSchema } from "@planwright/plan";
import { z } from "zod";

// Statuses and codes are text here: an API that is newer than this program may know more of them.

export const ProblemSchema = z.object({ code: z.string(), message: z.string() });
export type Problem = z.infer<typeof ProblemSchema>;

export const DiagnosticSchema = z.object({
  code: z.string(),
  severity: z.string(),
  stepId: z.string().nullish(),
  path: z.string().nullish(),
  message: z.string(),
  suggestion: z.string().nullish(),
});
export type Diagnostic = z.infer<typeof DiagnosticSchema>;

const AttemptSchema = z.object({
  attempt: z.number(),
  executor: z.string(),
  startedAt: z.string(),
  endedAt: z.string().nullable(),
  durationMs: z.number().nullable(),
  outcome: z.string().nullable(),
  error: ProblemSchema.nullable(),
  /** Nothing was sent: the server could not be reached. */
  unsent: z.object({ tries: z.number(), since: z.string() }).nullable().default(null),
});
export type AttemptSnapshot = z.infer<typeof AttemptSchema>;

/** Stands for an output that is too large for an answer. */
const OutputReferenceSchema = z.object({
  ref: z.string(),
  sizeBytes: z.number().nullable(),
  preview: z.string().nullable(),
});
export type OutputReference = z.infer<typeof OutputReferenceSchema>;

const StepSchema = z.object({
  id: z.string(),
  key: z.string(),
  item: z.number().nullable(),
  tool: z.string(),
  status: z.string(),
  dependsOn: z.array(z.string()),
  waitReason: z.string().nullable(),
  error: ProblemSchema.extend({ retryable: z.boolean() }).nullable(),
  approvalHash: z.string().nullable(),
  /** What an operator said of it, where that is what it stands on. */
  settled: z.object({ resolution: z.string(), by: z.string(), at: z.string().nullable() }).nullable(),
  carriedFrom: z.string().nullable(),
  effectClass: z.string().nullable(),
  attempts: z.array(AttemptSchema),
  nextAttemptAt: z.string().nullable(),
  startedAt: z.string().nullable(),
  finishedAt: z.string().nullable(),
  durationMs: z.number().nullable(),
  // Only in the full reading:
  arguments: JsonValueSchema.default(null),
  resolvedArguments: JsonValueSchema.default(null),
  output: JsonValueSchema.default(null),
  outputReference: OutputReferenceSchema.nullable().default(null),
  warnings: z.array(z.string()).default([]),
});
/** One step, or one item of a forEach step. */
export type StepSnapshot = z.infer<typeof StepSchema>;

const PlanSchema = z.object({
  planId: z.string(),
  version: z.number(),
  status: z.string(),
  waitReason: z.string().nullable(),
  executor: z.string().nullable(),
  epoch: z.number(),
  origin: z.object({ kind: z.string(), model: z.string().nullable() }),
  error: ProblemSchema.nullable(),
  createdAt: z.string(),
  queuedAt: z.string().nullable(),
  startedAt: z.string().nullable(),
  finishedAt: z.string().nullable(),
  durationMs: z.number().nullable(),
  cancelRequestedAt: z.string().nullable(),
  pauseRequestedAt: z.string().nullable(),
  deadlineAt: z.string().nullable(),
  approvals: z.array(
    z.object({
      stepId: z.string(),
      approved: z.boolean(),
      approvalHash: z.string(),
      reason: z.string().nullable(),
      by: z.string(),
      at: z.string(),
    }),
  ),
  resolutions: z.array(
    z.object({
      stepKey: z.string(),
      attempt: z.number(),
      resolution: z.string(),
      by: z.string(),
      at: z.string(),
    }),
  ),
  steps: z.array(StepSchema),
  // Only in the full reading:
  document: JsonValueSchema.default(null),
  outputs: JsonValueSchema.default(null),
  outputReferences: z.array(OutputReferenceSchema.extend({ name: z.string() })).default([]),
});
export type PlanSnapshot = z.infer<typeof PlanSchema>;

const ModelCallSchema = z.object({
  purpose: z.string(),
  model: z.string(),
  finishReason: z.string().nullable(),
  inputTokens: z.number().nullable(),
  outputTokens: z.number().nullable(),
  latencyMs: z.number(),
  error: ProblemSchema.nullable(),
  createdAt: z.string(),
});
export type ModelCallSnapshot = z.infer<typeof ModelCallSchema>;

const QuestionSchema = z.object({
  id: z.string(),
  question: z.string(),
  stepId: z.string().nullable(),
  tool: z.string().nullable(),
  parameter: z.string().nullable(),
  schema: JsonObjectSchema.nullable(),
});
/** A question of the planner without an answer. */
export type QuestionSnapshot = z.infer<typeof QuestionSchema>;

/** A request as it stood at one moment. */
export const RequestSnapshotSchema = z.object({
  requestId: z.string(),
  planId: z.string(),
  status: z.string(),
  source: z.string(),
  query: z.string().nullable(),
  version: z.number(),
  autoExecute: z.boolean(),
  error: ProblemSchema.nullable(),
  questions: z.array(z.string()),
  answerRequested: z.boolean(),
  answer: z.string().nullable(),
  answerError: ProblemSchema.nullable(),
  waitReason: z.string().nullable(),
  createdAt: z.string(),
  planningStartedAt: z.string().nullable(),
  planningFinishedAt: z.string().nullable(),
  plan: PlanSchema.nullable(),
  // Only in the full reading:
  tags: z.array(z.string()).default([]),
  diagnostics: z.array(DiagnosticSchema).default([]),
  openQuestions: z.array(QuestionSchema).default([]),
  answers: z.array(z.object({ question: z.string(), answer: z.string(), at: z.string() })).default([]),
  modelCalls: z.array(ModelCallSchema).default([]),
  plans: z
    .array(
      z.object({
        planId: z.string(),
        version: z.number(),
        status: z.string(),
        createdAt: z.string(),
        finishedAt: z.string().nullable(),
        error: ProblemSchema.nullable(),
      }),
    )
    .default([]),
});
export type RequestSnapshot = z.infer<typeof RequestSnapshotSchema>;

/** What following needs, again and again: nothing that may be large. */
export const FOLLOW_FIELDS = requestFields({ ofRequest: "", ofPlan: "", ofStep: "" });

/** Everything that reports show. */
export const FULL_FIELDS = requestFields({
  ofRequest: `tags diagnostics { code severity stepId path message suggestion }
    openQuestions { id question stepId tool parameter schema }
    answers { question answer at }
    modelCalls { purpose model finishReason inputTokens outputTokens latencyMs error { code message } createdAt }
    plans { planId version status createdAt finishedAt error { code message } }`,
  ofPlan: "document outputs outputReferences { name ref sizeBytes preview }",
  ofStep: "arguments resolvedArguments output outputReference { ref sizeBytes preview } warnings",
});

function requestFields({ ofRequest, ofPlan, ofStep }: Record<"ofRequest" | "ofPlan" | "ofStep", string>) {
  return `requestId planId status source query version autoExecute questions waitReason
  answerRequested answer answerError { code message }
  createdAt planningStartedAt planningFinishedAt error { code message } ${ofRequest}
  plan {
    planId version status waitReason executor epoch createdAt queuedAt startedAt finishedAt durationMs
    cancelRequestedAt pauseRequestedAt deadlineAt
    origin { kind model } error { code message }
    approvals { stepId approved approvalHash reason by at }
    resolutions { stepKey attempt resolution by at } ${ofPlan}
    steps {
      id key item tool status dependsOn waitReason approvalHash settled { resolution by at } carriedFrom effectClass
      nextAttemptAt startedAt finishedAt durationMs ${ofStep}
      error { code message retryable }
      attempts { attempt executor startedAt endedAt durationMs outcome error { code message } unsent { tries since } }
    }
  }`;
}
