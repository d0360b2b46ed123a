import type { PlanningResult } from "./plan-request.ts";

/** Hears how work on requests ended, to count it. Never waits and never throws. */
export interface RunMetrics {
  /** @param durationMs - from the claim */
  ended(result: PlanningResult, durationMs: number): void;
  /** The work broke off without a word on the request: another planner takes it up again. */
  broke(): void;
}

/** The same work, counted. */
export function countRuns(
  planRequest: (requestId: string, signal: AbortSignal) => Promise<PlanningResult>,
  metrics: RunMetrics,
): typeof planRequest {
  return async (requestId, signal) => {
    const startedAt = performance.now();
    try {
      const result = await planRequest(requestId, signal);
      metrics.ended(result, performance.now() - startedAt);
      return result;
    } catch (error) {
      metrics.broke();
      throw error;
    }
  };
}
