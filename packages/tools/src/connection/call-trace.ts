import type { JsonValue } from "@planwright/plan";

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
  answer: { result: JsonValue } | { error: JsonValue } | undefined;
  /** Ends the HTTP exchange; undefined while there is none. */
  stop: (() => void) | undefined;
  /** Rejects when no answer can come any more; the SDK would only notice at the timeout. */
  readonly failed: Promise<never>;
  readonly fail: (error: unknown) => void;
}

/** Name of the header that connects an HTTP request with its trace. It never leaves the process. */
export const TRACE_HEADER = "x-planwright-trace";

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
    stop: undefined,
    failed,
    fail,
  };
}
