import { delay } from "./delay.ts";
import { ApiRefusedError, ApiUnreachableError, NotTheApiError } from "./errors.ts";
import { hasEnded, isAtRest, type RequestRun } from "./run.ts";
import type { CallOptions } from "./transport.ts";

/** Options of following a request. */
export interface FollowOptions {
  /**
   * `rest`: until the request has ended or waits for a client or operator. `end`: until it has ended. Default
   * `rest`.
   */
  until?: "rest" | "end" | undefined;
  /**
   * True when the API has just accepted the request: an API that cannot be reached is then tried again from
   * the beginning. Default: before its first answer it is an error, such as a wrong address.
   */
  wasAccepted?: boolean | undefined;
  /** Ends the following; its reason is thrown. */
  signal?: AbortSignal | undefined;
  /** Called when the API does not answer and is tried again. */
  onTrouble?: ((error: Error) => void) | undefined;
}

/** Yields the state of a request now and after each observed change, and returns when `until` is reached. */
type FollowRequest = (requestId: string, options?: FollowOptions) => AsyncIterable<RequestRun>;

/** The two ways to observe changes. */
interface ProgressReads {
  /** The state now. */
  progress(requestId: string, options: CallOptions): Promise<RequestRun>;
  /** The state now, and after each change. */
  changes(requestId: string, options: CallOptions): AsyncIterable<RequestRun>;
}

/** True when `until` is reached. */
function hasReached(request: RequestRun, until: FollowOptions["until"]): boolean {
  return until === "end" ? hasEnded(request) : isAtRest(request);
}

/** True for a temporary error: the API is being restarted, or is overloaded. */
export function isTemporary(error: unknown): error is Error {
  return error instanceof ApiRefusedError ? error.retryable : error instanceof ApiUnreachableError;
}

/** Durations until now. */
const CLOCKS: ReadonlySet<string> = new Set(["durationMs", "waitedForPeopleMs"]);

/** The request as text without its durations, which grow with time: equal texts mean that nothing changed. */
function withoutClocks(request: RequestRun): string {
  return JSON.stringify(request, (key, value: unknown) => (CLOCKS.has(key) ? undefined : value));
}

/** Times of polling, in milliseconds. */
interface PollTimes {
  /** Between two readings while the request changes. Default 100. */
  minMs?: number;
  /** Between two readings while it does not change. Default 1,000. */
  maxMs?: number;
  /**
   * Longest time without an answer of the API. Default 60,000: the API may be restarted, and the plan
   * continues meanwhile.
   */
  timeoutMs?: number;
}

/** Follows a request by polling, less often while it does not change. */
export function createPolling(
  { progress }: Pick<ProgressReads, "progress">,
  times: PollTimes = {},
): FollowRequest {
  const { minMs = 100, maxMs = 1_000, timeoutMs = 60_000 } = times;
  return async function* poll(requestId, { until, wasAccepted, signal, onTrouble } = {}) {
    let last = "";
    let waitMs = minMs;
    let lastAnswerAt = wasAccepted ? performance.now() : undefined;
    for (;;) {
      const request = await progress(requestId, { signal }).catch((error: unknown) => {
        const isAway = lastAnswerAt === undefined || performance.now() - lastAnswerAt > timeoutMs;
        if (!isTemporary(error) || isAway) throw error;
        onTrouble?.(error);
        return null;
      });
      if (request) {
        const now = withoutClocks(request);
        waitMs = now === last ? Math.min(maxMs, waitMs * 1.5) : minMs;
        if (now !== last) yield request;
        // The reader may have taken long over it.
        lastAnswerAt = performance.now();
        last = now;
        if (hasReached(request, until)) return;
      } else waitMs = maxMs;
      await delay(waitMs, signal).catch(() => signal?.throwIfAborted());
    }
  };
}

/** Times of following a stream, in milliseconds. */
interface StreamTimes {
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
        for await (const request of readings(reads, {
          requestId,
          quietMs,
          signal,
          isNew: (read) => withoutClocks(read) !== last,
        })) {
          const now = withoutClocks(request);
          if (now !== last) yield request;
          // The reader may have taken long over it.
          heardAt = performance.now();
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

/** What {@link readings} follows. */
interface Followed {
  requestId: string;
  quietMs: number;
  signal: AbortSignal | undefined;
  /** True for a state that differs from the last one. */
  isNew: (request: RequestRun) => boolean;
}

/**
 * The events of the stream, and a reading after each `quietMs` of silence. It ends after a reading with a new state:
 * an event that is on its way may be older, so another stream, which begins with the state of then, must follow.
 */
async function* readings(
  reads: ProgressReads,
  { requestId, quietMs, signal, isNew }: Followed,
): AsyncGenerator<RequestRun> {
  // A silent stream does not end by itself when its reader stops.
  const leaving = new AbortController();
  const ended = signal ? AbortSignal.any([signal, leaving.signal]) : leaving.signal;
  const events = reads.changes(requestId, { signal: ended })[Symbol.asyncIterator]();
  try {
    let next = events.next();
    for (;;) {
      const heard = await withinQuiet(next, quietMs);
      if (heard === "quiet") {
        const request = await reads.progress(requestId, { signal });
        const isLast = isNew(request);
        yield request;
        if (isLast) return;
      } else if (heard.done) return;
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
