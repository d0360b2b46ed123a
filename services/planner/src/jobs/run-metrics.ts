import type { PlanningResult } from "./plan-request.ts";

/** Counts how work on requests ended. Never waits and never throws. */
export interface PlanningMetrics {
  /** @param durationMs - time since the claim */
  ended(result: PlanningResult, durationMs: number): void;
  /** The work failed and nothing was recorded on the request: another planner repeats it. */
  broke(): void;
}

/** Counts each call of `planRequest`. */
export function countRuns(
  planRequest: (requestId: string, signal: AbortSignal) => Promise<PlanningResult>,
  metrics: PlanningMetrics,
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
