const RETRY_AFTER_MS = 1_000;

/**
 * When a refused client may retry: after 0.5 to 1.5 s, in milliseconds. Random, so that clients do not return
 * together.
 * @param random - uniform in [0, 1)
 */
export function retryAfterMs(random: () => number): number {
  return Math.round(RETRY_AFTER_MS * (0.5 + random()));
}
