import type { PlanId } from "@planwright/plan";

/** What a process knows of the leases that it has lost. */
export interface LostLeases {
  /** To be called at regular times, for gaps between them to be seen. */
  beat(nowMs: number): void;
  /** The lease of a plan is gone, or the database is, and this process still runs. */
  lost(planId: PlanId, begunAtMs: number): void;
  /**
   * Gives the plans, each once, that did not end their executor: this process has lived on, and has not stood still since it began them. A plan that
   * freezes its process for so long that leases are lost is as bad as one that kills it.
   */
  takeOutlived(): PlanId[];
  /** They could not be told of and are given again. */
  putBack(planIds: readonly PlanId[]): void;
}

/**
 * Of a process that has lost none. Times are monotonic milliseconds.
 * @param options.everyMs - between two beats
 * @param options.leaseMs - a process that is late by half of it has stood still
 */
export function createLostLeases({
  everyMs,
  leaseMs,
  nowMs,
}: {
  everyMs: number;
  leaseMs: number;
  nowMs: number;
}): LostLeases {
  const begunAt = new Map<PlanId, number>();
  let lastBeatAt = nowMs;
  let stoodStillUntil = Number.NEGATIVE_INFINITY;
  return {
    beat(now) {
      if (now - lastBeatAt > everyMs + leaseMs / 2) stoodStillUntil = now;
      lastBeatAt = now;
    },
    lost(planId, at) {
      begunAt.set(planId, at);
    },
    takeOutlived() {
      const outlived = [...begunAt].flatMap(([planId, at]) => (at > stoodStillUntil ? [planId] : []));
      begunAt.clear();
      return outlived;
    },
    putBack(planIds) {
      for (const planId of planIds) begunAt.set(planId, Number.POSITIVE_INFINITY);
    },
  };
}
