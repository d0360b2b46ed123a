import type { ApiErrorCode } from "./api-errors.ts";

/** The status of an answer that is an error and nothing else. */
const STATUS: Partial<Record<ApiErrorCode, number>> = {
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  ANSWER_TOO_LARGE: 413,
  RATE_LIMITED: 429,
  OVERLOADED: 503,
  UNAVAILABLE: 503,
};

/** The HTTP status of a request that is refused as a whole; 500 for an unexpected error. */
export function statusOf(code: ApiErrorCode): number {
  return STATUS[code] ?? 500;
}

/** What a refusal says in headers: when to come back, and by what callers are known. */
export function headersOf({ code, facts }: { code: ApiErrorCode; facts: object }): Record<string, string> {
  const headers: Record<string, string> = {};
  if (code === "UNAUTHENTICATED") headers["www-authenticate"] = 'Bearer realm="planwright"';
  if ("retryAfterMs" in facts && typeof facts.retryAfterMs === "number") {
    headers["retry-after"] = String(Math.ceil(facts.retryAfterMs / 1_000));
  }
  return headers;
}
