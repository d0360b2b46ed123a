import { setTimeout as delay } from "node:timers/promises";
import type { ApiClient } from "../api/api-client.ts";
import { FOLLOW_PROGRESS, READ_PROGRESS } from "../api/operations.ts";
import type { RequestSnapshot } from "../api/request-snapshot.ts";
import { NotTheApiError } from "../errors.ts";
import { type FollowRequest, isFollowed, isPassing } from "./follow-request.ts";
import { withoutClocks } from "./without-clocks.ts";

/** Times of following a stream, in milliseconds. */
export interface StreamTimes {
  /** Silence after which the request is read: a dead worker sends no change. Default 3,000. */
  quietMs?: number;
  /** Before a stream that broke off is asked for again. Default 1,000. */
  againMs?: number;
  /** How long the API may stay away. Default 60,000: it may be restarted meanwhile, and the plan goes on. */
  patienceMs?: number;
}

/**
 * Follows by the API's own events. A stream that broke off is asked for again; one that cannot be had at all, because something
 * between does not let it through or too many are open, is replaced by `poll`.
 */
export function createStreaming(
  client: Pick<ApiClient, "ask" | "subscribe">,
  poll: FollowRequest,
  times: StreamTimes = {},
): FollowRequest {
  const { quietMs = 3_000, againMs = 1_000, patienceMs = 60_000 } = times;
  return async function* stream(requestId, options) {
    const { isPatient, signal, onTrouble } = options;
    let last = "";
    let heardAt: number | undefined;
    for (;;) {
      try {
        for await (const request of readings(client, requestId, quietMs)) {
          heardAt = performance.now();
          const now = withoutClocks(request);
          if (now !== last) yield request;
          last = now;
          if (isFollowed(request, isPatient)) return;
        }
      } catch (error) {
        signal.throwIfAborted();
        // Also for what is refused: polling hears the reason, and tells it.
        if (heardAt === undefined) return yield* poll(requestId, options);
        // Something between that answers in the API's place while it is away.
        const isTrouble = isPassing(error) || error instanceof NotTheApiError;
        if (!isTrouble || performance.now() - heardAt > patienceMs) throw error;
        onTrouble(error);
      }
      await delay(againMs, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
  };
}

/** What the stream says, and a reading of our own whenever it says nothing for a while. */
async function* readings(
  client: Pick<ApiClient, "ask" | "subscribe">,
  requestId: string,
  quietMs: number,
): AsyncGenerator<RequestSnapshot> {
  // Leaving a stream that says nothing takes more than not to read on.
  const leaving = new AbortController();
  const events = client.subscribe(FOLLOW_PROGRESS, { requestId }, leaving.signal)[Symbol.asyncIterator]();
  try {
    let next = events.next();
    for (;;) {
      const heard = await withinQuiet(next, quietMs);
      if (heard === "quiet") yield await client.ask(READ_PROGRESS, { requestId });
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
  const quiet = delay(quietMs, "quiet" as const, { signal: over.signal }).catch(() => "quiet" as const);
  try {
    return await Promise.race([next, quiet]);
  } finally {
    over.abort();
  }
}
