import type { RequestProgress } from "../request/request-progress.ts";

/**
 * The request as text without its durations, which grow by themselves: two readings with the same text show
 * no change.
 */
export function withoutClocks(request: RequestProgress): string {
  return JSON.stringify(request, (key, value: unknown) => (key === "durationMs" ? undefined : value));
}
