import { setTimeout as delay } from "node:timers/promises";
import type { ApiClient } from "../api/api-client.ts";
import { READ_PROGRESS } from "../api/operations.ts";
import { type FollowRequest, isFollowed, isPassing } from "./follow-request.ts";
import { withoutClocks } from "./without-clocks.ts";

/** Times of polling, in milliseconds. */
export interface PollTimes {
  /** Between two readings while things change. Default 100. */
  minMs?: number;
  /** Between two readings while nothing changes. Default 1,000. */
  maxMs?: number;
  /** How long the API may stay away. Default 60,000: it may be restarted meanwhile, and the plan goes on. */
  patienceMs?: number;
}

/** Follows by reading again and again, less often while nothing changes. */
export function createPolling(client: Pick<ApiClient, "ask">, times: PollTimes = {}): FollowRequest {
  const { minMs = 100, maxMs = 1_000, patienceMs = 60_000 } = times;
  return async function* poll(requestId, { isPatient, signal, onTrouble }) {
    let last = "";
    let waitMs = minMs;
    let lastAnswerAt: number | undefined;
    for (;;) {
      const request = await client.ask(READ_PROGRESS, { requestId }).catch((error: unknown) => {
        const isAway = lastAnswerAt === undefined || performance.now() - lastAnswerAt > patienceMs;
        if (!isPassing(error) || isAway) throw error;
        onTrouble(error);
        return null;
      });
      if (request) {
        lastAnswerAt = performance.now();
        const now = withoutClocks(request);
        waitMs = now === last ? Math.min(maxMs, waitMs * 1.5) : minMs;
        if (now !== last) yield request;
        last = now;
        if (isFollowed(request, isPatient)) return;
      } else waitMs = maxMs;
      await delay(waitMs, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
  };
}
