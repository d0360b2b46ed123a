import type { ResultOf } from "@planwright/client";
import {
  depthOf,
  PlanIdSchema,
  parseExactJson,
  RequestIdSchema,
  requestTitle,
  StepIdSchema,
  scanReferences,
} from "@planwright/plan";
import type { VersionDocument } from "../data/read-document.ts";
import type { PlanFacts, RequestFacts, StepRow } from "../data/request-facts.ts";
import type { READ_DRAFTS, READ_JOURNAL, READ_MODEL_CALLS, READ_STEP } from "../data/request-operations.ts";
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

type StepDetails = NonNullable<ResultOf<typeof READ_STEP>["plan"]>["stepsConnection"]["nodes"][number];

type Draft = NonNullable<ResultOf<typeof READ_DRAFTS>["request"]>["plansConnection"]["nodes"][number];

/** A version of a plan in a bundle, in the shape of the API's answers. */
interface BundledPlan {
  facts: PlanFacts;
  document: VersionDocument;
  draft: Draft;
  detailsOf: (stepId: string) => StepDetails[];
}

/** Reads a version of a plan. */
function readPlan(plan: Fields): BundledPlan {
  const planned = new Map(
    (plan.object("plan")?.list("steps") ?? []).map((step) => [step.text("id") ?? "", step]),
  );
  const steps = plan.list("steps").map((step) => readStep(step, planned));
  const facts = planFacts(plan, steps);
  return {
    facts,
    document: { version: facts.version, document: plan.value("plan"), steps },
    draft: {
      version: facts.version,
      origin: { kind: facts.origin.kind },
      raw: plan.text("raw"),
      document: plan.value("plan"),
      diagnostics: plan.list("diagnostics").map(readDiagnostic),
    },
    detailsOf: (stepId) =>
      plan
        .list("steps")
        .filter((step) => step.text("stepId") === stepId)
        .map((step) => readDetails(step, planned.get(stepId))),
  };
}

function readDiagnostic(diagnostic: Fields): Draft["diagnostics"][number] {
  return {
    code: diagnostic.text("code") ?? "UNKNOWN",
    severity: diagnostic.text("severity") === "warning" ? "warning" : "error",
    stepId: diagnostic.text("stepId"),
    path: diagnostic.text("path"),
    message: diagnostic.text("message") ?? "",
    suggestion: diagnostic.text("suggestion"),
  };
}

function planFacts(plan: Fields, steps: StepRow[]): PlanFacts {
  const counted = (...statuses: string[]) =>
    steps.filter(({ item, status }) => item === null && statuses.includes(status)).length;
  return {
    planId: plan.text("_id") ?? "",
    version: plan.number("version") ?? 1,
    // An unknown status is shown by its name.
    status: (plan.text("status") ?? "INVALID") as PlanFacts["status"],
    waitReason: plan.text("waitReason"),
    executor: null,
    origin: {
      kind: plan.object("origin")?.text("kind") ?? "submitted",
      model: plan.object("origin")?.text("model") ?? null,
    },
    createdAt: plan.text("createdAt") ?? "",
    queuedAt: plan.text("queuedAt"),
    startedAt: plan.text("startedAt"),
    finishedAt: plan.text("finishedAt"),
    durationMs: plan.number("durationMs"),
    waitedForPeopleMs: plan.number("waitedForPeopleMs"),
    deadlineAt: plan.text("deadlineAt"),
    expiresAt: null,
    cancelRequestedAt: plan.text("cancelRequestedAt"),
    pauseRequestedAt: plan.text("pauseRequestedAt"),
    error: readError(plan.object("error")),
    counts: {
      total: steps.filter(({ item }) => item === null).length,
      completed: counted("COMPLETED"),
      failed: counted("FAILED"),
      skipped: counted("SKIPPED"),
      cancelled: counted("CANCELLED"),
      inDoubt: counted("IN_DOUBT"),
      running: counted("RUNNING", "RETRYING"),
      pending: counted("PENDING", "WAITING_APPROVAL"),
    },
    diagnostics: [],
    steps,
  };
}

/** A recorded error; its remedy is not recorded. */
function readError(error: Fields | null): StepRow["error"] {
  if (!error) return null;
  return {
    code: error.text("code") ?? "UNKNOWN",
    message: error.text("message") ?? "",
    retryable: error.isTrue("retryable"),
    remedy: "",
  };
}

function readStep(step: Fields, planned: ReadonlyMap<string, Fields>): StepRow {
  const id = step.text("stepId") ?? "";
  return {
    id,
    key: step.text("key") ?? id,
    item: step.number("item"),
    tool: step.text("tool") ?? "",
    status: (step.text("status") ?? "PENDING") as StepRow["status"],
    dependsOn: dependenciesOf(planned.get(id), planned),
    waitReason: step.text("waitReason"),
    effectClass: step.text("effectClass"),
    effect: step.text("effect"),
    approved: step.isTrue("approved"),
    approvalHash: step.text("approvalHash"),
    carriedFrom: step.text("carriedFrom"),
    warnings: step.texts("warnings"),
    nextAttemptAt: step.text("nextAttemptAt"),
    expiresAt: step.text("expiresAt"),
    startedAt: step.text("startedAt"),
    finishedAt: step.text("finishedAt"),
    durationMs: step.number("durationMs"),
    waitedForPeopleMs: step.number("waitedForPeopleMs"),
    error: readError(step.object("error")),
    settled: null,
    attempts: step.list("attempts").map((attempt) => ({
      attempt: attempt.number("attempt") ?? 1,
      attemptId: attempt.text("attemptId") ?? "",
      executor: attempt.text("executor") ?? "",
      startedAt: attempt.text("startedAt") ?? "",
      endedAt: attempt.text("endedAt"),
      durationMs: attempt.number("durationMs"),
      outcome: attempt.text("outcome"),
      error: readError(attempt.object("error")),
      unsent: null,
    })),
  };
}

/** The steps that a step waits for: those in `dependsOn`, and those that its references name. */
function dependenciesOf(step: Fields | undefined, planned: ReadonlyMap<string, Fields>): string[] {
  if (!step) return [];
  const ownId = step.text("id");
  const referenced = scanReferences(step.record).map(({ root }) => root);
  const named = new Set([...step.texts("dependsOn"), ...referenced]);
  return [...named].filter((id) => planned.has(id) && id !== ownId);
}

function readDetails(step: Fields, planned: Fields | undefined): StepDetails {
  const preview = step.object("argumentsPreview");
  const output = fieldsOf(step.value("output"));
  const ref = output.text("ref");
  const isLarge = ref !== null && output.number("sizeBytes") !== null;
  return {
    key: step.text("key") ?? "",
    arguments: planned?.value("arguments") ?? planned?.value("forEach") ?? null,
    resolvedArguments: step.value("arguments"),
    resolvedArgumentsPreview: preview && {
      sizeBytes: preview.number("sizeBytes") ?? 0,
      text: preview.text("text") ?? "",
    },
    output: isLarge ? null : step.value("output"),
    outputReference: isLarge
      ? { ref, sizeBytes: output.number("sizeBytes"), preview: output.text("preview") ?? "" }
      : null,
  };
}
