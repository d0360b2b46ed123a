import type { ResultOf } from "@planwright/client";
import { parseExactJson, requestTitle } from "@planwright/plan";
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

/**
 * Reads the text of a file.
 * @returns undefined for a text that is not a bundle
 */
export function readBundle(text: string): BundledRequest | undefined {
  const bundle = fieldsOf(parsed(text));
  const request = bundle.object("request");
  const requestId = bundle.text("requestId");
  if (bundle.number("formatVersion") !== 1 || !request || requestId === null) return undefined;
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

function parsed(text: string): unknown {
  try {
    const value: unknown = parseExactJson(text);
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
    traceId: request.object("trace")?.text("traceparent")?.split("-")[1] ?? null,
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
