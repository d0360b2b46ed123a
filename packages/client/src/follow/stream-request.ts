import { delay } from "../delay.ts";
import { NotTheApiError } from "../errors.ts";
import type { RequestRun } from "../request/run.ts";
import { type FollowRequest, hasReached, isTemporary, type ProgressReads } from "./follow-request.ts";
import { withoutClocks } from "./without-clocks.ts";

/** Times of following a stream, in milliseconds. */
export interface StreamTimes {
  /** Silence after which the request is read: a dead worker causes no event. Default 3,000. */
  quietMs?: number;
  /** Wait before a broken stream is opened again. Default 1,000. */
  againMs?: number;
  /**
   * Longest time without an answer of the API. Default 60,000: the API may be restarted, and the plan
   * continues meanwhile.
   */
  timeoutMs?: number;
}

/**
 * Follows a request by the events of the API. A broken stream is opened again. When the first stream cannot
 * be opened, because a proxy blocks it or too many are open, `poll` follows instead.
 */
export function createStreaming(
  reads: ProgressReads,
  poll: FollowRequest,
  times: StreamTimes = {},
): FollowRequest {
  const { quietMs = 3_000, againMs = 1_000, timeoutMs = 60_000 } = times;
  return async function* stream(requestId, options = {}) {
    const { until, signal, onTrouble } = options;
    let last = "";
    let heardAt: number | undefined;
    for (;;) {
      try {
        for await (const request of readings(reads, { requestId, quietMs, signal })) {
          heardAt = performance.now();
          const now = withoutClocks(request);
          if (now !== last) yield request;
          last = now;
          if (hasReached(request, until)) return;
        }
      } catch (error) {
        signal?.throwIfAborted();
        // Also after a refusal: polling gets the same refusal and throws it.
        if (heardAt === undefined) return yield* poll(requestId, options);
        // While the API is down, a proxy may answer instead.
        const isTrouble = isTemporary(error) || error instanceof NotTheApiError;
        if (!isTrouble || performance.now() - heardAt > timeoutMs) throw error;
        onTrouble?.(error);
      }
      await delay(againMs, signal).catch(() => signal?.throwIfAborted());
    }
  };
}

/** The events of the stream, and a reading after each `quietMs` of silence. */
async function* readings(
  reads: ProgressReads,
  { requestId, quietMs, signal }: { requestId: string; quietMs: number; signal: AbortSignal | undefined },
): AsyncGenerator<RequestRun> {
  // A silent stream does not end by itself when its reader stops.
  const leaving = new AbortController();
  const ended = signal ? AbortSignal.any([signal, leaving.signal]) : leaving.signal;
  const events = reads.changes(requestId, { signal: ended })[Symbol.asyncIterator]();
  try {
    let next = events.next();
    for (;;) {
      const heard = await withinQuiet(next, quietMs);
      if (heard === "quiet") yield await reads.progress(requestId, { signal });
      else if (heard.done) return;
      else {
        yield heard.value;
        next = events.next();
      }
    }
  } finally {
    leaving.abort();
  }
}

async function withinQuiet<T>(next: Promise<T>, quietMs: number): Promise<T | "quiet"> {
  const answered = new AbortController();
  const isQuiet = () => "quiet" as const;
  const quiet = delay(quietMs, answered.signal).then(isQuiet, isQuiet);
  try {
    return await Promise.race([next, quiet]);
  } finally {
    answered.abort();
  }
}
