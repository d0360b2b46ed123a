import type { PlanningResult } from "./plan-request.ts";

/** Dependencies of {@link createPlanningRuns}. */
export interface PlanningRunsParts {
  planRequest: (requestId: string, signal: AbortSignal) => Promise<PlanningResult>;
  /** Most requests that may be in progress now. */
  allowed: () => number;
}

/** The requests that this process is planning. */
export interface PlanningRuns {
  /**
   * Plans a request, unless this process is full, is stopping or is already planning it; sweepers find the
   * others.
   */
  take(requestId: string): Promise<void>;
  /** Number of requests that could start now. */
  capacity(): number;
  /**
   * Starts nothing more, waits for the requests in progress, and aborts those that have not ended in time.
   */
  drain(timeoutMs: number): Promise<void>;
}

/** Keeps the requests in progress, so that the queue, the sweeper and the shutdown use the same number. */
export function createPlanningRuns({ planRequest, allowed }: PlanningRunsParts): PlanningRuns {
  const inProgress = new Map<string, Promise<unknown>>();
  const stop = new AbortController();
  let isStopping = false;
  const capacity = () => (isStopping ? 0 : Math.max(0, allowed() - inProgress.size));

  return {
    capacity,
    async take(requestId) {
      if (capacity() === 0 || inProgress.has(requestId)) return;
      const run = planRequest(requestId, stop.signal);
      inProgress.set(requestId, run);
      try {
        await run;
      } catch (error) {
        if (!stop.signal.aborted) throw error;
      } finally {
        inProgress.delete(requestId);
      }
    },
    async drain(timeoutMs) {
      isStopping = true;
      const late = setTimeout(
        () => stop.abort(new DOMException("the planner stops", "AbortError")),
        timeoutMs,
      );
      await Promise.allSettled(inProgress.values());
      clearTimeout(late);
    },
  };
}
