/**
 * Delay before the next attempt, in milliseconds: uniform in [0, min(maxMs, initialMs * 2^(attempt - 1))), and never
 * shorter than what the server asked for. Random, so that attempts which failed together do not return together.
 * @param backoff - first and longest bound, in milliseconds
 * @param attempt - attempts already made, from 1
 * @param random - uniform in [0, 1)
 * @param retryAfterMs - wait asked for by the server
 * @see M. Brooker, "Exponential Backoff and Jitter", AWS Architecture Blog, 2015 ("full jitter")
 */
export function retryDelay(
  backoff: { initialMs: number; maxMs: number },
  attempt: number,
  random: number,
  retryAfterMs = 0,
): number {
  const bound = Math.min(backoff.maxMs, backoff.initialMs * 2 ** (attempt - 1));
  return Math.max(Math.floor(random * bound), retryAfterMs);
}
