import { delay } from "../delay.ts";
import { NotTheApiError } from "../errors.ts";
import type { RequestProgress } from "../request/request-progress.ts";
import { type FollowRequest, isFollowed, isPassing, type ProgressReads } from "./follow-request.ts";
import { withoutClocks } from "./without-clocks.ts";

/** Times of following a stream, in milliseconds. */
export interface StreamTimes {
  /** Silence after which the request is read: a dead worker sends no change. Default 3,000. */
  quietMs?: number;
  /** Before a stream that broke off is opened again. Default 1,000. */
  againMs?: number;
  /**
   * How long the API may give no answer. Default 60,000: it may be restarted, and the plan continues
   * meanwhile.
   */
  timeoutMs?: number;
}

/**
 * Follows by the API's own events. A stream that broke off is opened again. When the first stream cannot be
 * opened at all, because a proxy does not let it through or too many are open, `poll` follows instead.
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
          if (isFollowed(request, until)) return;
        }
      } catch (error) {
        signal?.throwIfAborted();
        // Also for a refusal: polling gets the same one, and throws it.
        if (heardAt === undefined) return yield* poll(requestId, options);
        // A proxy answers in the API's place while the API is away.
        const isTrouble = isPassing(error) || error instanceof NotTheApiError;
        if (!isTrouble || performance.now() - heardAt > timeoutMs) throw error;
        onTrouble?.(error);
      }
      await delay(againMs, signal).catch(() => signal?.throwIfAborted());
    }
  };
}

/** The events of the stream, and a reading of our own whenever it is silent for a while. */
async function* readings(
  reads: ProgressReads,
  { requestId, quietMs, signal }: { requestId: string; quietMs: number; signal: AbortSignal | undefined },
): AsyncGenerator<RequestProgress> {
  // A stream that is silent does not end by itself when it is no longer read.
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
  const over = new AbortController();
  const isQuiet = () => "quiet" as const;
  const quiet = delay(quietMs, over.signal).then(isQuiet, isQuiet);
  try {
    return await Promise.race([next, quiet]);
  } finally {
    over.abort();
  }
}
