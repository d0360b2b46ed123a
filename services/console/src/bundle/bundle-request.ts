import { type PlanRun, type ResultOf, type StepRun, type StepValues } from "@planwright/client";
import {
  depthOf,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  PlanIdSchema,
  parseExactJson,
  RequestIdSchema,
  requestTitle,
  StepIdSchema,
  scanReferences,
} from "@planwright/plan";
import { z } from "zod";
import type { READ_DRAFTS, READ_JOURNAL, READ_MODEL_CALLS, RequestPage } from "../data/request-operations.ts";

/** The content of a `debugBundle` file: the answers of the API to the queries of a request's page. */
export interface BundledRequest {
  request: RequestPage;
  /** Newest version first. */
  plans: BundledPlan[];
  calls: NonNullable<ResultOf<typeof READ_MODEL_CALLS>["request"]>["modelCallsConnection"]["nodes"];
  events: ResultOf<typeof READ_JOURNAL>["events"]["nodes"];
  /** When the file was made. */
  generatedAt: string;
}

type Draft = NonNullable<ResultOf<typeof READ_DRAFTS>["request"]>["plansConnection"]["nodes"][number];
/** A version of a plan, with its document and the values of its steps. */
type BundledPlan = Omit<PlanRun, "steps"> & Draft & { steps: (StepRun & StepValues)[] };

/** Largest file that is read, in MiB. A bundle has at most 7 MiB; its file is indented. */
const MAX_MIB = 32;
const MIB = 1_024 * 1_024;
/** Deepest nesting of a bundle: the service keeps at most 200 levels of a value. */
const MAX_DEPTH = 250;

/** Why a file of this size cannot be a bundle; undefined when it can be. */
export function refusalOf({ name, size }: Pick<File, "name" | "size">): string | undefined {
  if (size <= MAX_MIB * MIB) return undefined;
  const sizeMib = Math.ceil(size / MIB).toLocaleString("en");
  return `${name} has ${sizeMib} MiB; a bundle has at most ${MAX_MIB}, so it was not read. Make one with: planwright debug REQUEST --bundle`;
}

/**
 * Reads the text of a file. Its ids become links and commands to copy, so each of them must be an id.
 * @returns undefined for a text that is not a bundle, also when it is nested deeper than a bundle can be
 */
export function readBundle(text: string): BundledRequest | undefined {
  const read = BundleSchema.safeParse(parsed(text));
  if (!read.success) return undefined;
  const { requestId, generatedAt, request, modelCalls: calls, timeline: events } = read.data;
  const plans = read.data.plans.map((plan) => ({ ...plan, counts: countsOf(plan.steps) }));
  const plan = plans[0] ?? null;
  const tools = plan?.steps.filter(({ item }) => item === null).map(({ tool }) => tool) ?? [];
  const planId = plan?.planId ?? "";
  return {
    request: {
      ...request,
      ...ONLY_IN_THE_SERVICE,
      requestId,
      planId,
      title: requestTitle(request.query, tools),
      diagnosis: diagnosisOf(request, plan),
      plan,
    },
    plans,
    calls,
    events: events.map((event, index) => ({
      ...event,
      id: String(index),
      seq: index + 1,
      planId: event.planId ?? planId,
    })),
    generatedAt,
  };
}

function parsed(text: string): JsonObject {
  try {
    const value: unknown = parseExactJson(text);
    if (!isJsonObject(value) || depthOf(value, MAX_DEPTH) > MAX_DEPTH) return {};
    // A file may also have the complete answer of the API.
    const { data } = value;
    const answer = isJsonObject(data) ? data["debugBundle"] : undefined;
    return withNamesOfApi(isJsonObject(answer) ? answer : value);
  } catch {
    return {};
  }
}

/** Fields that a file cannot have: they are for decisions, and a file has no journal, so no earlier moment either. */
const ONLY_IN_THE_SERVICE = {
  autoExecute: false,
  maxReplans: 0,
  answerRequested: false,
  seq: 0,
  waitReason: null,
  modelWait: null,
  traceUrl: null,
  diagnostics: [],
  questions: [],
  openQuestions: [],
};

// The file may be from another version of the service: what is missing or of another type is empty. Only an id that
// is not one makes it no bundle.
const JSON_VALUE = z.custom<JsonValue>((found) => found !== undefined).catch(null);
const text = z.string().catch("");
const maybeText = z.string().nullable().catch(null);
const maybeNumber = z.number().nullable().catch(null);
const from1 = z.number().catch(1);
const flag = z.boolean().catch(false);
const texts = listOf(z.string(), (entry) => typeof entry === "string");
const stepId = StepIdSchema.nullable().default(null);
/** The key of an item is the id of its step with a position. */
const stepKey = z.string().refine((key) => StepIdSchema.safeParse(key.replace(/\[\d{1,8}\]$/, "")).success);

function listOf<Entry extends z.ZodType>(entry: Entry, isEntry: (found: unknown) => boolean = isJsonObject) {
  return z.preprocess((list) => (Array.isArray(list) ? list.filter(isEntry) : []), z.array(entry));
}
const orNull = <Value extends z.ZodType>(schema: Value) => schema.nullable().catch(null);

/** A recorded error; its remedy may be missing. */
const error = orNull(
  z.object({ code: z.string().catch("UNKNOWN"), message: text, retryable: flag, remedy: text }),
);

const StepSchema = z.object({
  id: StepIdSchema.or(z.literal("")).default(""),
  key: stepKey.or(z.literal("")).default(""),
  item: maybeNumber,
  tool: text,
  status: z.string().catch("PENDING"),
  dependsOn: texts,
  waitReason: maybeText,
  approved: flag,
  approvalHash: maybeText,
  settled: orNull(
    z.object({ resolution: z.enum(["completed", "failed", "retry"]), by: text, at: maybeText }),
  ),
  carriedFrom: maybeText,
  effectClass: maybeText,
  effect: maybeText,
  nextAttemptAt: maybeText,
  expiresAt: maybeText,
  startedAt: maybeText,
  finishedAt: maybeText,
  durationMs: maybeNumber,
  waitedForPeopleMs: maybeNumber,
  warnings: texts,
  error,
  attempts: listOf(
    z.object({
      attempt: from1,
      attemptId: text,
      executor: text,
      startedAt: text,
      endedAt: maybeText,
      durationMs: maybeNumber,
      outcome: maybeText,
      effect: maybeText,
      error,
      unsent: orNull(z.object({ tries: z.number(), since: z.string() })),
    }),
  ),
  arguments: JSON_VALUE,
  resolvedArguments: JSON_VALUE,
  resolvedArgumentsPreview: orNull(z.object({ sizeBytes: z.number(), text: z.string() })),
  output: JSON_VALUE,
  outputReference: orNull(z.object({ ref: z.string(), sizeBytes: z.number(), preview: text })),
});

const PlanSchema = z.object({
  planId: PlanIdSchema.or(z.literal("")).default(""),
  version: from1,
  status: z.string().catch("INVALID"),
  waitReason: maybeText,
  executor: maybeText,
  epoch: z.number().catch(0),
  origin: z
    .object({ kind: z.string().catch("submitted"), model: maybeText })
    .catch({ kind: "submitted", model: null }),
  createdAt: text,
  queuedAt: maybeText,
  startedAt: maybeText,
  finishedAt: maybeText,
  durationMs: maybeNumber,
  waitedForPeopleMs: maybeNumber,
  deadlineAt: maybeText,
  expiresAt: maybeText,
  cancelRequestedAt: maybeText,
  pauseRequestedAt: maybeText,
  error,
  // The decisions of persons are in the timeline.
  approvals: z.array(z.never()).catch([]),
  resolutions: z.array(z.never()).catch([]),
  document: JSON_VALUE,
  raw: maybeText,
  diagnostics: listOf(
    z.object({
      code: z.string().catch("UNKNOWN"),
      severity: z.enum(["warning", "error"]).catch("error"),
      stepId: maybeText,
      path: maybeText,
      message: text,
      suggestion: maybeText,
    }),
  ),
  steps: listOf(StepSchema),
});

const BundleSchema = z.object({
  formatVersion: z.literal(1),
  requestId: RequestIdSchema,
  generatedAt: text,
  request: z.object({
    status: z.string().catch("FAILED"),
    source: z.string().catch("plan"),
    query: maybeText,
    tags: texts,
    version: from1,
    createdAt: text,
    updatedAt: text,
    planningStartedAt: maybeText,
    planningFinishedAt: maybeText,
    traceId: maybeText,
    answer: maybeText,
    error,
    answerError: error,
    answers: listOf(z.object({ question: text, answer: text, at: text })),
  }),
  plans: listOf(PlanSchema),
  modelCalls: listOf(
    z.object({
      id: text,
      purpose: text,
      model: text,
      messages: listOf(z.object({ role: text, content: text })),
      answer: text,
      finishReason: maybeText,
      inputTokens: maybeNumber,
      outputTokens: maybeNumber,
      cachedInputTokens: maybeNumber,
      latencyMs: z.number().catch(0),
      costUsd: maybeNumber,
      pricing: z.string().catch("unpriced"),
      attempt: from1,
      error,
      createdAt: text,
      endedAt: maybeText,
    }),
  ),
  timeline: listOf(
    z.object({
      at: text,
      by: z.object({ kind: text, id: text }),
      planId: maybeText,
      type: text,
      stepId,
      key: stepKey.nullable().default(null),
      attempt: maybeNumber,
      status: maybeText,
      reason: maybeText,
      error,
      facts: JSON_VALUE,
    }),
  ),
});

const objectsOf = (list: JsonValue | undefined): JsonObject[] =>
  Array.isArray(list) ? list.filter(isJsonObject) : [];
const objectOf = (found: JsonValue | undefined): JsonObject => (isJsonObject(found) ? found : {});

/** The records of a file name their fields as the store does: here they get the names of the API. */
function withNamesOfApi(bundle: JsonObject): JsonObject {
  const { request } = bundle;
  const { startedAt = null, finishedAt = null } = objectOf(objectOf(request)["planning"]);
  const { traceparent } = objectOf(objectOf(request)["trace"]);
  const traceId = /^[0-9a-f]{2}-([0-9a-f]{32})-/.exec(
    typeof traceparent === "string" ? traceparent : "",
  )?.[1];
  const named = isJsonObject(request) && {
    ...request,
    planningStartedAt: startedAt,
    planningFinishedAt: finishedAt,
    traceId: traceId ?? null,
  };
  return {
    ...bundle,
    request: named || null,
    plans: objectsOf(bundle["plans"]).map(planOf),
    modelCalls: objectsOf(bundle["modelCalls"]).map((call) => ({ ...call, id: call["_id"] ?? "" })),
    timeline: objectsOf(bundle["timeline"]).map(eventOf),
  };
}

function eventOf(entry: JsonObject): JsonObject {
  const { event = null, executor = null, stepId: id = null, key = id, status, outcome = null } = entry;
  return {
    ...entry,
    type: event,
    by: { kind: executor === null ? "" : "executor", id: executor },
    key,
    stepId: typeof key === "string" ? key.replace(/\[\d+\]$/, "") : id,
    status: status ?? outcome,
    facts: entry,
  };
}

function planOf({ _id: planId = "", plan: document = null, steps, ...plan }: JsonObject): JsonObject {
  const planned = new Map(objectsOf(objectOf(document)["steps"]).map((step) => [step["id"], step]));
  return { ...plan, planId, document, steps: objectsOf(steps).map((step) => stepOf(step, planned)) };
}

function stepOf(step: JsonObject, planned: ReadonlyMap<unknown, JsonObject>): JsonObject {
  const {
    stepId: id = "",
    key = id,
    output = null,
    arguments: resolvedArguments = null,
    argumentsPreview = null,
  } = step;
  const asPlanned = planned.get(id);
  const isLarge = typeof objectOf(output)["ref"] === "string";
  return {
    ...step,
    id,
    key,
    dependsOn: asPlanned ? dependenciesOf(asPlanned, planned) : [],
    arguments: asPlanned?.["arguments"] ?? asPlanned?.["forEach"] ?? null,
    resolvedArguments,
    resolvedArgumentsPreview: argumentsPreview,
    output: isLarge ? null : output,
    outputReference: isLarge ? output : null,
  };
}

/** The steps that a step waits for: those in `dependsOn`, and those that its references name. */
function dependenciesOf(step: JsonObject, planned: ReadonlyMap<unknown, JsonObject>): string[] {
  const referenced = scanReferences(step).map(({ root }) => root);
  const names = new Set([...texts.parse(step["dependsOn"]), ...referenced]);
  return [...names].filter((id) => planned.has(id) && id !== step["id"]);
}

function countsOf(steps: readonly StepRun[]): PlanRun["counts"] {
  const plain = steps.filter(({ item }) => item === null);
  const counted = (...statuses: string[]) => plain.filter(({ status }) => statuses.includes(status)).length;
  return {
    total: plain.length,
    completed: counted("COMPLETED"),
    failed: counted("FAILED"),
    skipped: counted("SKIPPED"),
    cancelled: counted("CANCELLED"),
    inDoubt: counted("IN_DOUBT"),
    running: counted("RUNNING", "RETRYING"),
    pending: counted("PENDING", "WAITING_APPROVAL"),
  };
}

/** The recorded cause: the diagnosis of the API is not in the file. */
function diagnosisOf(
  { status, error: ownError }: Pick<RequestPage, "status" | "error">,
  plan: Pick<PlanRun, "error" | "steps" | "finishedAt"> | null,
): RequestPage["diagnosis"] {
  const cause = ownError ?? plan?.error ?? null;
  const isBad = status === "FAILED" || status === "PARTIAL";
  const word = status.toLowerCase().replaceAll("_", " ");
  const bad = plan?.steps.filter((step) => step.status === "FAILED" || step.status === "IN_DOUBT") ?? [];
  return {
    cause: {
      code: isBad ? "FAILED" : "NONE",
      severity: isBad ? "FAILURE" : status === "COMPLETED" ? "NONE" : "ATTENTION",
      message: cause ? `${cause.message} (${cause.code})` : `The request was ${word} when the file was made`,
      errorCode: cause?.code ?? null,
    },
    reasons: [],
    stepKeys: bad.slice(0, 10).map(({ key }) => key),
    since: plan?.finishedAt ?? null,
    next: [],
  };
}
