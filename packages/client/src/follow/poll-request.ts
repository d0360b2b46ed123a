import { delay } from "../delay.ts";
import { type FollowRequest, hasReached, isTemporary, type ProgressReads } from "./follow-request.ts";
import { withoutClocks } from "./without-clocks.ts";

/** Times of polling, in milliseconds. */
export interface PollTimes {
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
        lastAnswerAt = performance.now();
        const now = withoutClocks(request);
        waitMs = now === last ? Math.min(maxMs, waitMs * 1.5) : minMs;
        if (now !== last) yield request;
        last = now;
        if (hasReached(request, until)) return;
      } else waitMs = maxMs;
      await delay(waitMs, signal).catch(() => signal?.throwIfAborted());
    }
  };
}
