import type { RequestId } from "@planwright/plan";
import { isAtRest } from "../feeds/is-at-rest.ts";
import type { RequestSnapshot } from "../feeds/request-feed.ts";
import type { GraphqlContext } from "../operation/context.ts";

/** Options of {@link untilAtRest}. */
export interface FollowOptions {
  /** Longest wait, in milliseconds. */
  waitMs: number;
  /** Ends the wait early: the client has disconnected, or the service stops. */
  signal?: AbortSignal | undefined;
  /** True for the state that ends the wait. Default: {@link isAtRest}. */
  isLast?: ((state: RequestSnapshot) => boolean) | undefined;
  /** Called for each other state; the next state waits for it. */
  onState?: ((state: RequestSnapshot) => Promise<void>) | undefined;
}

/**
 * Follows a request until it has ended, waits for a person, or the timeout has passed. Later reads of the
 * operation use the returned state.
 * @throws {OverloadedError} when too many requests are followed
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
