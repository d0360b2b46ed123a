const MAX_RETRY_AFTER_MS = 3_600_000;

/**
 * Milliseconds to wait by a Retry-After header, at most one hour. The header holds seconds or an HTTP date;
 * every other value, and no header, give `undefined`.
 * @see RFC 9110, section 10.2.3
 */
export function parseRetryAfter(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined;
  const ms = /^\d{1,9}$/.test(header.trim()) ? Number(header) * 1_000 : Date.parse(header) - nowMs;
  return Number.isFinite(ms) ? Math.min(Math.max(0, ms), MAX_RETRY_AFTER_MS) : undefined;
}
