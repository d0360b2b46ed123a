import { AnswerLostError, AnswerTooLargeError } from "./errors.ts";

/**
 * What is known of one call while it is under way: enough to tell afterwards whether the tool can have acted.
 * The SDK tells neither whether a request was sent, nor the headers of an answer, nor that a stream ended early.
 */
export interface CallTrace {
  readonly id: string;
  /** True from the moment in which the request was handed to the transport. */
  sent: boolean;
  /** JSON-RPC id of the request, once sent. */
  requestId: string | number | undefined;
  /** Status of the HTTP answer, once there. */
  status: number | undefined;
  /** From the header Retry-After. */
  retryAfterMs: number | undefined;
  /** Aborts the HTTP exchange. */
  readonly abort: AbortController;
  /** Rejects when the answer can no longer come, which the SDK would only notice at the timeout. */
  readonly failed: Promise<never>;
  fail(error: unknown): void;
}

/** Name of the header that ties an HTTP request to its trace. It never leaves the process. */
export const TRACE_HEADER = "x-planwright-trace";

/** After the stream of an answer ended, its last event may still be under way inside this process. */
const STREAM_GRACE_MS = 250;

/** A trace for a call that begins. */
export function createCallTrace(id: string): CallTrace {
  let fail: (error: unknown) => void = () => {};
  const failed = new Promise<never>((_resolve, reject) => {
    fail = reject;
  });
  failed.catch(() => {}); // most calls never fail this way, and then nobody waits for it
  const abort = new AbortController();
  return {
    id,
    sent: false,
    requestId: undefined,
    status: undefined,
    retryAfterMs: undefined,
    abort,
    failed,
    fail,
  };
}

/** `fetch` as the SDK's transport takes it. */
export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/**
 * A `fetch` that writes into the trace of the call it serves what the SDK does not tell, and that reads no more of an
 * answer than allowed.
 */
export function createTracedFetch(
  fetchAnswer: Fetch,
  traces: ReadonlyMap<string, CallTrace>,
  maxBytes: number,
): Fetch {
  return async (url, init = {}) => {
    const headers = new Headers(init.headers);
    const trace = traces.get(headers.get(TRACE_HEADER) ?? "");
    headers.delete(TRACE_HEADER);
    if (trace === undefined) return await fetchAnswer(url, { ...init, headers });

    const stop = () => trace.abort.abort();
    init.signal?.addEventListener("abort", stop, { once: true });
    trace.abort.signal.addEventListener("abort", () => init.signal?.removeEventListener("abort", stop), {
      once: true,
    });
    if (init.signal?.aborted) stop();
    const response = await fetchAnswer(url, { ...init, headers, signal: trace.abort.signal });
    trace.status = response.status;
    trace.retryAfterMs = parseRetryAfter(response.headers.get("retry-after"), Date.now());
    return limitBody(response, trace, maxBytes);
  };
}

/**
 * Milliseconds to wait by a Retry-After header: seconds, or an HTTP date. At most one hour.
 * @see RFC 9110, section 10.2.3
 */
export function parseRetryAfter(header: string | null, nowMs: number): number | undefined {
  if (header === null) return undefined;
  const ms = /^\d{1,9}$/.test(header.trim()) ? Number(header) * 1_000 : Date.parse(header) - nowMs;
  return Number.isFinite(ms) ? Math.min(Math.max(0, ms), 3_600_000) : undefined;
}

function limitBody(response: Response, trace: CallTrace, maxBytes: number): Response {
  const { body } = response;
  if (body === null) return response;
  const isStream = response.headers.get("content-type")?.includes("text/event-stream") ?? false;
  const limited = limitStream(body, maxBytes, {
    onEnd: () => {
      if (isStream) setTimeout(() => trace.fail(new AnswerLostError()), STREAM_GRACE_MS).unref();
    },
    onError: (error) => trace.fail(error),
  });
  const { status, statusText, headers } = response;
  return new Response(limited, { status, statusText, headers });
}

function limitStream(
  body: ReadableStream<Uint8Array>,
  maxBytes: number,
  { onEnd, onError }: { onEnd(): void; onError(error: unknown): void },
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let size = 0;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          size += value?.byteLength ?? 0;
          if (size > maxBytes) throw new AnswerTooLargeError(maxBytes);
          if (done) {
            controller.close();
            onEnd();
          } else controller.enqueue(value);
        } catch (error) {
          controller.error(error);
          onError(error);
          await reader.cancel(error).catch(() => {});
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}
