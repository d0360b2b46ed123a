/** What a failure of a model call means, and how long to wait before the next. */
import { retryDelay } from "@planwright/engine";
import {
  BothModelsFailedError,
  DraftError,
  type DraftErrorCode,
  isModelError,
  ModelError,
  type PartialDraft,
} from "../draft/draft-error.ts";
import type { CallEnd } from "../draft/drafter.ts";
import type { AnswerForm } from "../providers/chat.ts";
import { CONNECT_TIMEOUT } from "../providers/checked-fetch.ts";
import { hasReason } from "../providers/registry.ts";

interface Call {
  model: string;
  /** The address of the server, as errors may show it. */
  url: string | undefined;
  timeoutMs: number;
  /** True when the time limit of this package ended the call. */
  isOverdue: boolean;
  partial: PartialDraft;
}

/**
 * Converts an error of a provider's library to a DraftError. HTTP status, the provider's code and the name of
 * the error decide, never the message.
 */
export function toModelError(
  error: unknown,
  { model, url, timeoutMs, isOverdue, partial }: Call,
): DraftError {
  if (isModelError(error, "MODEL_UNREACHABLE")) {
    return new ModelError("MODEL_UNREACHABLE", { ...error.facts, url }, { cause: error, partial });
  }
  const wrong = causesOf(error).find((each) => isModelError(each, "MODEL_ENDPOINT_WRONG"));
  if (wrong) return new ModelError("MODEL_ENDPOINT_WRONG", wrong.facts, { cause: error, partial });
  if (error instanceof DraftError) return error;
  // LangChain hides the answer to a prompt that is too long in the cause of its own error.
  const answered = causesOf(error).find((each) => httpStatus(each) !== null) ?? error;
  const options = { cause: answered, partial };
  const status = httpStatus(answered);
  const reasons = providerReasons(answered);
  if (isOverdue || errorNames(error).some((name) => name.includes("Timeout"))) {
    return new ModelError("MODEL_TIMEOUT", { model, url, timeoutMs }, options);
  }
  if (status === null) {
    return error instanceof SyntaxError
      ? new ModelError("MODEL_ANSWER_UNREADABLE", { model, reason: "the stream was not valid JSON" }, options)
      : new ModelError(
          "MODEL_UNREACHABLE",
          { model, url, status, retryAfterMs: null, reason: connectionCodeOf(error) },
          options,
        );
  }
  if (hasReason(reasons, "MODEL_CONTENT_FILTERED"))
    return new ModelError("MODEL_CONTENT_FILTERED", { model }, options);
  if (status === 402 || hasReason(reasons, "MODEL_QUOTA_EXHAUSTED")) {
    return new ModelError("MODEL_QUOTA_EXHAUSTED", { model, status }, options);
  }
  // Some providers refuse a key with 400 and a code.
  if (status === 401 || status === 403 || hasReason(reasons, "MODEL_UNAUTHORIZED")) {
    return new ModelError("MODEL_UNAUTHORIZED", { model, url, status }, options);
  }
  if (status === 404) return new ModelError("MODEL_NOT_FOUND", { model, url }, options);
  if (status === 429 || status === 529) {
    return new ModelError(
      "MODEL_RATE_LIMITED",
      { model, retryAfterMs: retryAfterMs(answered, Date.now()) },
      options,
    );
  }
  if (status >= 400 && status < 500 && status !== 408) {
    return new ModelError("MODEL_REQUEST_INVALID", { model, url, status }, options);
  }
  return new ModelError(
    "MODEL_UNREACHABLE",
    { model, url, status, retryAfterMs: retryAfterMs(answered, Date.now()) },
    options,
  );
}

/** Words in the error messages of servers that do not support a form. */
const FORM_WORDS: Record<Exclude<AnswerForm, "text">, RegExp> = {
  "json-schema":
    /response_?(format|schema|json_?schema|mime_?type)|json_?schema|output_(config|format)|structured/i,
  "tool-call": /tool|function/i,
};

/** The code of OpenAI for a request that is too long. Its message counts the tokens of the tools. */
const TOO_LONG = "context_length_exceeded";

/**
 * True when a server refused the request because of its answer form or its tools, so that another form may work.
 */
export function isFormRefused(error: DraftError, form: Exclude<AnswerForm, "text">): boolean {
  if (!isModelError(error, "MODEL_REQUEST_INVALID")) return false;
  const { status } = error.facts;
  if (status !== 400 && status !== 422) return false;
  if (providerReasons(error.cause).has(TOO_LONG)) return false;
  const message = error.cause instanceof Error ? error.cause.message.slice(0, 2_000) : "";
  return FORM_WORDS[form].test(message);
}

/** What is known about the cost of a failed call. */
export function spentOf(error: DraftError): CallEnd["spent"] {
  switch (error.code) {
    case "MODEL_REFUSED":
    case "MODEL_ANSWER_TRUNCATED":
      return "complete";
    case "MODEL_ENDPOINT_WRONG":
      return "none";
    case "MODEL_CONTENT_FILTERED":
      return httpStatus(error.cause) === null ? "complete" : "none";
    default:
      // A call without a connection has no status and cost nothing.
      return httpStatus(error.cause) !== null || wasNeverSent(error.cause) ? "none" : "unknown";
  }
}

const NOT_CONNECTED = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  CONNECT_TIMEOUT,
]);

function wasNeverSent(error: unknown): boolean {
  return NOT_CONNECTED.has(connectionCodeOf(error) ?? "");
}

/**
 * The operating system's code for a failed connection, such as ECONNREFUSED; undefined when no cause has one.
 */
function connectionCodeOf(error: unknown): string | undefined {
  return causesOf(error)
    .map((each): unknown => Reflect.get(each, "code"))
    .filter((code) => typeof code === "string")
    .find((code) => /^(E[A-Z_]+|UND_ERR_[A-Z_]+|CERT_[A-Z_]+)$/.test(code));
}

/** An error and its causes, the outermost first. */
function causesOf(error: unknown): Error[] {
  const causes: Error[] = [];
  for (let each = error; each instanceof Error && causes.length < 10; each = each.cause) causes.push(each);
  return causes;
}

/** Reads the errors of providers' libraries, which are untrusted data. */

/** The HTTP status of the provider's answer; null when there was none. */
function httpStatus(error: unknown): number | null {
  const status = fieldOf(error, "status") ?? fieldOf(error, "statusCode");
  return typeof status === "number" && status >= 100 && status < 600 ? status : null;
}

/** Names of an error's class and of its causes. */
function errorNames(error: unknown): string[] {
  const names: string[] = [];
  for (let each = error; each instanceof Error && names.length < 10; each = each.cause) {
    names.push(each.name, each.constructor.name);
  }
  return names;
}

/**
 * The provider's error codes: OpenAI's `code` and `type`, Anthropic's `error.type`, the reasons in Google's
 * details.
 */
function providerReasons(error: unknown): ReadonlySet<string> {
  const body = bodyOf(error);
  const found = [
    fieldOf(error, "code"),
    fieldOf(error, "type"),
    fieldOf(body, "code"),
    fieldOf(body, "type"),
  ];
  for (const detail of detailsOf(body)) found.push(fieldOf(detail, "reason"));
  return new Set(found.filter((reason) => typeof reason === "string"));
}

/** Maximum wait that a provider can request, in milliseconds. */
const MAX_RETRY_AFTER_MS = 3_600_000;

/**
 * The wait that the provider requests, in milliseconds, at most one hour: `retry-after-ms`, `Retry-After` in
 * seconds or as a date, or Google's RetryInfo. A date counts from the Date of the same answer: the clocks of both
 * sides may differ. Null without a request.
 */
export function retryAfterMs(error: unknown, nowMs: number): number | null {
  const headers = fieldOf(error, "headers");
  const header = (name: string) => {
    const value = headers instanceof Headers ? headers.get(name) : fieldOf(headers, name);
    return typeof value === "string" && value.trim() !== "" ? value.trim() : null;
  };
  const exact = header("retry-after-ms");
  const after = header("retry-after");
  const waits = [
    exact === null ? Number.NaN : Number(exact),
    after === null ? Number.NaN : Number(after) * 1_000,
    after === null ? Number.NaN : Date.parse(after) - (Date.parse(header("date") ?? "") || nowMs),
    ...detailsOf(bodyOf(error)).map(retryDelayMs),
  ];
  const wait = waits.find((each) => Number.isFinite(each));
  return wait === undefined ? null : Math.min(Math.max(wait, 0), MAX_RETRY_AFTER_MS);
}

/** `{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "17s"}`. */
function retryDelayMs(detail: unknown): number {
  const delay = fieldOf(detail, "retryDelay");
  const seconds = typeof delay === "string" ? /^(\d{1,6}(?:\.\d{1,9})?)s$/.exec(delay)?.[1] : undefined;
  return seconds === undefined ? Number.NaN : Number(seconds) * 1_000;
}

/** OpenAI and Anthropic: `error` of the error, one level deeper with Anthropic; Google: `data.error`. */
function bodyOf(error: unknown): unknown {
  const body = fieldOf(error, "error") ?? fieldOf(fieldOf(error, "data"), "error");
  return fieldOf(body, "error") ?? body;
}

const MAX_DETAILS = 20;

function detailsOf(body: unknown): unknown[] {
  const details = fieldOf(body, "details");
  return Array.isArray(details) ? details.slice(0, MAX_DETAILS) : [];
}

function fieldOf(holder: unknown, key: string): unknown {
  return typeof holder === "object" && holder !== null ? Reflect.get(holder, key) : undefined;
}

const BACKOFF = { initialMs: 500, maxMs: 8_000, strategy: "exponential" } as const;

/** Failures that may end within seconds: 429, 5xx, a lost connection, an answer cut in its body. */
const TEMPORARY: ReadonlySet<DraftErrorCode> = new Set<DraftErrorCode>([
  "MODEL_RATE_LIMITED",
  "MODEL_UNREACHABLE",
  "MODEL_ANSWER_UNREADABLE",
]);

/**
 * The wait before the next try of a call, in milliseconds; null when it would fail again. Full jitter from
 * 500 ms doubling to 8 s, and at least the wait that the provider requests (`Retry-After`).
 * @param attempt - tries already made, from 1
 * @param random - uniform in [0, 1)
 */
export function retryWaitMs(error: DraftError, attempt: number, random: number): number | null {
  return TEMPORARY.has(error.code) ? retryDelay(BACKOFF, attempt, random, requestedMsOf(error)) : null;
}

/** The wait that the provider requests, in milliseconds; 0 without a request. */
function requestedMsOf(error: DraftError): number {
  const hasRequest = isModelError(error, "MODEL_RATE_LIMITED", "MODEL_UNREACHABLE");
  return hasRequest ? (error.facts.retryAfterMs ?? 0) : 0;
}

/**
 * For a call whose model, or its fallback, is away: the wait that the provider requests, in milliseconds (0
 * without a request). Null for any other failure, which a wait does not cure. A model that gave no answer at
 * all in its time is away; one that began to answer is only slow, and would cost the same again.
 */
export function awayForMs(error: DraftError): number | null {
  const all = error instanceof BothModelsFailedError ? error.errors : [error];
  const waits = all.filter(isAway).map(requestedMsOf);
  return waits.length > 0 ? Math.min(...waits) : null;
}

function isAway(error: DraftError): boolean {
  if (isModelError(error, "MODEL_TIMEOUT")) return (error.partial?.text ?? "") === "";
  return isModelError(error, "MODEL_UNREACHABLE", "MODEL_RATE_LIMITED");
}

const LONGEST_PAUSE_MS = 30_000;

/**
 * The pause before a model that is away is called again, in milliseconds: a random one of 1 to 2 s, doubling to
 * 15 to 30 s.
 * @param tries - pauses in a row, this one included, from 1
 * @param random - uniform in [0, 1)
 */
export function modelPauseMs(tries: number, random: number): number {
  const bound = Math.min(LONGEST_PAUSE_MS, 1_000 * 2 ** tries);
  return Math.floor((bound * (1 + random)) / 2);
}
