import type { RequestSnapshot } from "../api/request-snapshot.ts";

/** Two readings with the same text differ in nothing that happened: durations grow by themselves. */
export function withoutClocks(request: RequestSnapshot): string {
  return JSON.stringify(request, (key, value: unknown) => (key === "durationMs" ? undefined : value));
}
