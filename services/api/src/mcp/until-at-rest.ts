import type { RequestId } from "@planwright/plan";
import { isAtRest } from "../feeds/is-at-rest.ts";
import type { RequestSnapshot } from "../feeds/request-feed.ts";
import type { GraphqlContext } from "../operation/context.ts";

/** How long a request is followed. */
export interface FollowOptions {
  /** Longest wait, in milliseconds. */
  waitMs: number;
  /** Ends the wait early: the client is gone, or the service stops. */
  signal?: AbortSignal | undefined;
  /** True for the state that is waited for. Default: {@link isAtRest}. */
  isLast?: ((state: RequestSnapshot) => boolean) | undefined;
  /** Told of each state that is not the last, which waits for it. */
  onState?: ((state: RequestSnapshot) => Promise<void>) | undefined;
}

/**
 * Follows a request until nothing more happens to it by itself, or the time is over; gives its last known state, which further reads of
 * the operation then see.
 * @throws {OverloadedError} when as many requests are followed as can be
 */
export async function untilAtRest(
  { feeds, tenant, reads }: Pick<GraphqlContext, "feeds" | "tenant" | "reads">,
  requestId: RequestId,
  { waitMs, signal, isLast = isAtRest, onState }: FollowOptions,
): Promise<RequestSnapshot | undefined> {
  const states = await feeds.follow(tenant, requestId);
  const stop = (): void => void states.return?.();
  const timer = setTimeout(stop, waitMs);
  signal?.addEventListener("abort", stop, { once: true });
  if (signal?.aborted) stop();
  let last: RequestSnapshot | undefined;
  try {
    for await (const state of states) {
      last = state;
      if (isLast(state)) break;
      await onState?.(state);
    }
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", stop);
    stop();
  }
  if (last) reads.primeSnapshot(last);
  return last;
}
