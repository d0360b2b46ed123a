import type { Outcome } from "@planwright/engine";
import { type JsonObject, type JsonValue, unmarkNumbers } from "@planwright/plan";

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
