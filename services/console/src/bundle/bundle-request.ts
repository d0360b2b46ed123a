import type { ResultOf } from "@planwright/client";
import {
  depthOf,
  PlanIdSchema,
  parseExactJson,
  RequestIdSchema,
  requestTitle,
  StepIdSchema,
} from "@planwright/plan";
import { type RequestFacts } from "../data/request-facts.ts";
import { type READ_JOURNAL, type READ_MODEL_CALLS } from "../data/request-operations.ts";
import { type BundledPlan, readError, readPlan } from "./bundle-plan.ts";
import { type Fields, fieldsOf } from "./fields.ts";

type JournalEvent = ResultOf<typeof READ_JOURNAL>["events"]["nodes"][number];
type ModelCall = NonNullable<
  ResultOf<typeof READ_MODEL_CALLS>["request"]
>["modelCallsConnection"]["nodes"][number];

/** The content of a `debugBundle` file, in the shape of the API's answers. */
export interface BundledRequest {
  request: RequestFacts;
  /** Newest version first. */
  plans: BundledPlan[];
  calls: ModelCall[];
  events: JournalEvent[];
  /** When the file was made. */
  generatedAt: string;
}

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
  const bundle = fieldsOf(parsed(text));
  const request = bundle.object("request");
  const requestId = bundle.text("requestId");
  if (bundle.number("formatVersion") !== 1 || !request || requestId === null) return undefined;
  if (!hasOnlyIds(bundle)) return undefined;
  const plans = bundle.list("plans").map(readPlan);
  const [plan] = plans;
  const planId = plan?.facts.planId ?? "";
  return {
    request: requestFacts(requestId, request, plan),
    plans,
    calls: bundle.list("modelCalls").map(readCall),
    events: bundle.list("timeline").map((entry, index) => readEvent(entry, index, planId)),
    generatedAt: bundle.text("generatedAt") ?? "",
  };
}

/** True when every id in the file has the form of one. Ids that another version left out are not there. */
function hasOnlyIds(bundle: Fields): boolean {
  const isId = (schema: typeof StepIdSchema, of: Fields, name: string) => {
    const value = of.value(name);
    return value === null || schema.safeParse(value).success;
  };
  // The key of an item is the id of its step with a position.
  const isUnit = (unit: Fields): boolean => {
    const id = unit.text("key")?.replace(/\[\d{1,8}\]$/, "");
    return isId(StepIdSchema, unit, "stepId") && (id === undefined || StepIdSchema.safeParse(id).success);
  };
  return (
    isId(RequestIdSchema, bundle, "requestId") &&
    bundle.list("timeline").every(isUnit) &&
    bundle.list("plans").every((plan) => isId(PlanIdSchema, plan, "_id") && plan.list("steps").every(isUnit))
  );
}

function parsed(text: string): unknown {
  try {
    const value: unknown = parseExactJson(text);
    if (depthOf(value, MAX_DEPTH) > MAX_DEPTH) return undefined;
    // A file may also have the complete answer of the API.
    const answer = fieldsOf(value).object("data")?.object("debugBundle");
    return answer ? answer.record : value;
  } catch {
    return undefined;
  }
}

function requestFacts(requestId: string, request: Fields, plan: BundledPlan | undefined): RequestFacts {
  const planning = request.object("planning");
  return {
    requestId,
    status: (request.text("status") ?? "FAILED") as RequestFacts["status"],
    source: request.text("source") ?? "plan",
    query: request.text("query"),
    title: requestTitle(
      request.text("query"),
      plan?.facts.steps.filter(({ item }) => item === null).map(({ tool }) => tool) ?? [],
    ),
    tags: request.texts("tags"),
    // Only needed to send the sentence again, which is not possible from a file.
    autoExecute: false,
    maxReplans: 0,
    answerRequested: false,
    version: request.number("version") ?? 1,
    // A bundle has no journal entries, so no earlier moment can be shown.
    seq: 0,
    createdAt: request.text("createdAt") ?? "",
    updatedAt: request.text("updatedAt") ?? "",
    planningStartedAt: planning?.text("startedAt") ?? null,
    planningFinishedAt: planning?.text("finishedAt") ?? null,
    waitReason: null,
    traceId:
      /^[0-9a-f]{2}-([0-9a-f]{32})-/.exec(request.object("trace")?.text("traceparent") ?? "")?.[1] ?? null,
    traceUrl: null,
    answer: request.text("answer"),
    error: readError(request.object("error")),
    answerError: readError(request.object("answerError")),
    diagnostics: [],
    diagnosis: diagnosisOf(request, plan),
    openQuestions: [],
    plan: plan?.facts ?? null,
  };
}

/** The recorded cause: the diagnosis of the API is not in the file. */
function diagnosisOf(request: Fields, plan: BundledPlan | undefined): RequestFacts["diagnosis"] {
  const status = request.text("status") ?? "";
  const error = readError(request.object("error")) ?? plan?.facts.error ?? null;
  const isBad = status === "FAILED" || status === "PARTIAL";
  const bad =
    plan?.facts.steps.filter((step) => step.status === "FAILED" || step.status === "IN_DOUBT") ?? [];
  const severity = isBad ? "FAILURE" : status === "COMPLETED" ? "NONE" : "ATTENTION";
  const word = status.toLowerCase().replaceAll("_", " ");
  return {
    cause: {
      code: (isBad ? "FAILED" : "NONE") as RequestFacts["diagnosis"]["cause"]["code"],
      severity,
      message: error ? `${error.message} (${error.code})` : `The request was ${word} when the file was made`,
      errorCode: error?.code ?? null,
    },
    reasons: [],
    stepKeys: bad.slice(0, 10).map(({ key }) => key),
    since: plan?.facts.finishedAt ?? null,
    next: [],
  };
}

function readCall(call: Fields): ModelCall {
  return {
    id: call.text("_id") ?? "",
    purpose: call.text("purpose") ?? "",
    model: call.text("model") ?? "",
    messages: call.list("messages").map((message) => ({
      role: message.text("role") ?? "",
      content: message.text("content") ?? "",
    })),
    answer: call.text("answer") ?? "",
    finishReason: call.text("finishReason"),
    inputTokens: call.number("inputTokens"),
    outputTokens: call.number("outputTokens"),
    cachedInputTokens: call.number("cachedInputTokens"),
    latencyMs: call.number("latencyMs") ?? 0,
    costUsd: call.number("costUsd"),
    pricing: call.text("pricing") ?? "unpriced",
    attempt: call.number("attempt") ?? 1,
    error: readError(call.object("error")),
    createdAt: call.text("createdAt") ?? "",
    endedAt: call.text("endedAt"),
  };
}

function readEvent(entry: Fields, index: number, planId: string): JournalEvent {
  const key = entry.text("key") ?? entry.text("stepId");
  return {
    id: String(index),
    seq: index + 1,
    at: entry.text("at") ?? "",
    by: { kind: entry.text("executor") === null ? "" : "executor", id: entry.text("executor") ?? "" },
    planId: entry.text("planId") ?? planId,
    type: entry.text("event") ?? "",
    stepId: key === null ? null : key.replace(/\[\d+\]$/, ""),
    key,
    attempt: entry.number("attempt"),
    status: entry.text("status") ?? entry.text("outcome"),
    reason: null,
    error: readError(entry.object("error")),
    facts: entry.record,
  };
}
