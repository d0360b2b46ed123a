import type { Outcome } from "@planwright/engine";
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  stringifyExactJson,
  unmarkNumbers,
} from "@planwright/plan";

/**
 * What is known about a call in progress: enough to decide afterwards whether the tool can have acted. The
 * SDK does not report whether a request was sent, the headers of an answer, or that a stream ended early.
 */
export interface CallTrace {
  readonly id: string;
  /** False while not one byte of the request can have reached the server. */
  sent: boolean;
  /** JSON-RPC id of the request; undefined before the request is passed to the transport. */
  requestId: string | number | undefined;
  /** Status of the HTTP answer; undefined before the answer arrives. */
  status: number | undefined;
  /** From the header Retry-After. */
  retryAfterMs: number | undefined;
  /** What the server answered, as it came: the SDK only knows answers in the form of the protocol. */
  answer: { result: JsonValue } | { error: JsonValue } | { outcome: Outcome } | undefined;
  /** The tool that is called; undefined before the call is sent. */
  tool: { ownName: string; outputSchema: JsonObject | undefined; isBatch: boolean } | undefined;
  /** Large arguments, and the text in the request that stands for them; undefined for small ones. */
  large: { mark: string; bytes: Uint8Array } | undefined;
  /** Ends when a large message that may be the answer was read; undefined while there is none. */
  reading: Promise<void> | undefined;
  /** Ends the HTTP exchange; undefined while there is none. */
  stop: (() => void) | undefined;
  /** Rejects when no answer can come any more; the SDK would only notice at the timeout. */
  readonly failed: Promise<never>;
  readonly fail: (error: unknown) => void;
}

/** Name of the header that connects an HTTP request with its trace. It never leaves the process. */
export const TRACE_HEADER = "x-planwright-trace";

/**
 * The parts of a request as they are sent: its text with exact numbers, and large arguments as the bytes that
 * they are.
 */
export function requestParts(text: string, large: CallTrace["large"]): (string | Uint8Array)[] {
  const at = large === undefined ? -1 : text.indexOf(large.mark);
  if (large === undefined || at === -1) return [unmarkNumbers(text)];
  return [unmarkNumbers(text.slice(0, at)), large.bytes, unmarkNumbers(text.slice(at + large.mark.length))];
}

/** A trace for a call that begins. */
export function createCallTrace(id: string): CallTrace {
  let fail: (error: unknown) => void = () => {};
  const failed = new Promise<never>((_resolve, reject) => {
    fail = reject;
  });
  failed.catch(() => {}); // most calls never fail this way, and then no caller waits for it
  return {
    id,
    sent: false,
    requestId: undefined,
    status: undefined,
    retryAfterMs: undefined,
    answer: undefined,
    tool: undefined,
    large: undefined,
    reading: undefined,
    stop: undefined,
    failed,
    fail,
  };
}

/*
 * Takes the answer of a call out of the messages of a server before the SDK sees it. The SDK checks answers
 * against the protocol and drops those of another shape, although the tool has acted: an answer must not be
 * lost by its shape.
 */

/** The call in progress that a message with this id answers. */
export type TraceOf = (id: JsonValue | undefined) => CallTrace | undefined;

/** The code of an error that has no code of the protocol: the server answered, and says no more. */
const SERVER_ERROR = -32_000;
const MAX_ERROR_CHARS = 2_000;

/**
 * The message that the SDK gets. When it answers a call, the answer as it came is put into the trace of the
 * call, and the SDK gets an empty result, or an error in the form that it knows. An answer that is not a
 * complete result (the tool asks for input) is left to the SDK, and so is everything else.
 */
export function takeAnswer(message: JsonValue, traceOf: TraceOf): JsonValue {
  if (Array.isArray(message)) return message.map((each) => takeAnswer(each, traceOf));
  if (!isJsonObject(message) || message["method"] !== undefined) return message;
  const { result, error = null } = message;
  const trace = result === undefined && error === null ? undefined : traceOf(message["id"]);
  if (trace?.requestId === undefined) return message;
  const head = { jsonrpc: "2.0", id: trace.requestId };
  if (error !== null) {
    trace.answer = { error };
    return { ...head, error: readableError(error) };
  }
  if (result === undefined || isIncomplete(result)) return message;
  trace.answer = { result };
  return { ...head, result: { resultType: "complete", content: [] } };
}

function isIncomplete(result: JsonValue): boolean {
  if (!isJsonObject(result)) return false;
  return typeof result["resultType"] === "string" && result["resultType"] !== "complete";
}

/** An error in the form of the protocol: some servers write a text, or leave out the code. */
export function readableError(error: JsonValue): JsonObject {
  const { code, message, data } = isJsonObject(error) ? error : { message: error };
  const number = typeof code === "string" && /^-?\d{1,9}$/.test(code) ? Number(code) : code;
  return {
    code: typeof number === "number" && Number.isInteger(number) ? number : SERVER_ERROR,
    message: typeof message === "string" ? message : stringifyExactJson(error).slice(0, MAX_ERROR_CHARS),
    ...(data === undefined || data === null ? {} : { data }),
  };
}

/** Finds a call by the id of a message. Servers may return our numbers as texts. */
export function traceById(traces: Iterable<CallTrace>, id: JsonValue | undefined): CallTrace | undefined {
  if (typeof id !== "number" && typeof id !== "string") return undefined;
  for (const trace of traces) {
    if (trace.requestId !== undefined && String(trace.requestId) === String(id)) return trace;
  }
  return undefined;
}
