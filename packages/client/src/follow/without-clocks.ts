import type { RequestProgress } from "../request/request-progress.ts";

/** The request as text without its durations, which grow with time: equal texts mean that nothing changed. */
export function withoutClocks(request: RequestProgress): string {
  return JSON.stringify(request, (key, value: unknown) => (key === "durationMs" ? undefined : value));
}
