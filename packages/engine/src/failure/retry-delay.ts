import type { BackoffStrategy } from "@planwright/plan";

/**
 * Delay before the next attempt, in milliseconds: uniform in [0, bound), and never shorter than the wait that
 * the server asked for. The bound is `initialMs` times 2^(attempt - 1) (`exponential`), times `attempt`
 * (`linear`) or times 1 (`fixed`), and at most `maxMs`. Random, so that attempts that failed together are not
 * repeated together.
 * @param backoff - first and longest bound, in milliseconds, and how it grows
 * @param attempt - attempts already made, from 1
 * @param random - uniform in [0, 1)
 * @param retryAfterMs - wait that the server asked for, in milliseconds
 * @see M. Brooker, "Exponential Backoff and Jitter", AWS Architecture Blog, 2015 ("full jitter")
 */
export function retryDelay(
  backoff: { initialMs: number; maxMs: number; strategy: BackoffStrategy },
  attempt: number,
  random: number,
  retryAfterMs = 0,
): number {
  const bound = Math.min(backoff.maxMs, backoff.initialMs * GROWTH[backoff.strategy](attempt));
  return Math.max(Math.floor(random * bound), retryAfterMs);
}

const GROWTH: Readonly<Record<BackoffStrategy, (attempt: number) => number>> = {
  exponential: (attempt) => 2 ** (attempt - 1),
  linear: (attempt) => attempt,
  fixed: () => 1,
};
