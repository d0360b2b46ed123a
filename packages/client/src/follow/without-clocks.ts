import type { RequestRun } from "../request/run.ts";

/** Durations until now. */
const CLOCKS: ReadonlySet<string> = new Set(["durationMs", "waitedForPeopleMs"]);

/** The request as text without its durations, which grow with time: equal texts mean that nothing changed. */
export function withoutClocks(request: RequestRun): string {
  return JSON.stringify(request, (key, value: unknown) => (CLOCKS.has(key) ? undefined : value));
}
