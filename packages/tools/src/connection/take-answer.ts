/**
 * Takes the answer of a call out of the messages of a server before the SDK sees it. The SDK checks answers
 * against the protocol and drops those of another shape, although the tool has acted: an answer must not be
 * lost by its shape.
 */
import { isJsonObject, type JsonObject, type JsonValue, stringifyExactJson } from "@planwright/plan";
import type { CallTrace } from "./call-trace.ts";

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
