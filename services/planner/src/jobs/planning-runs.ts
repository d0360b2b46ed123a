import type { PlanningResult } from "./plan-request.ts";

/** What keeping count of the work needs. */
export interface PlanningRunsParts {
  planRequest: (requestId: string, signal: AbortSignal) => Promise<PlanningResult>;
  /** Requests under way at most. */
  maxRequests: number;
}

/** The requests that this process plans now. */
export interface PlanningRuns {
  /** Plans a request, unless this process is full, stopping or at it already; the sweepers find what is left. */
  take(requestId: string): Promise<void>;
  /** Requests that could be taken on now. */
  capacity(): number;
  /** Takes no more, waits for those under way, and aborts what has not ended in time. */
  drain(timeoutMs: number): Promise<void>;
}

/** Keeps count of the requests under way, so that the queue, the sweeper and the end of the process see the same number. */
export function createPlanningRuns({ planRequest, maxRequests }: PlanningRunsParts): PlanningRuns {
  const underWay = new Map<string, Promise<unknown>>();
  const stop = new AbortController();
  let isStopping = false;
  const capacity = () => (isStopping ? 0 : Math.max(0, maxRequests - underWay.size));

  return {
    capacity,
    async take(requestId) {
      if (capacity() === 0 || underWay.has(requestId)) return;
      const run = planRequest(requestId, stop.signal);
      underWay.set(requestId, run);
      try {
        await run;
      } catch (error) {
        if (!stop.signal.aborted) throw error;
      } finally {
        underWay.delete(requestId);
      }
    },
    async drain(timeoutMs) {
      isStopping = true;
      const late = setTimeout(
        () => stop.abort(new DOMException("the planner stops", "AbortError")),
        timeoutMs,
      );
      await Promise.allSettled(underWay.values());
      clearTimeout(late);
    },
  };
}
