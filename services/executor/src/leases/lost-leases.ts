import type { HeldPlan } from "@planwright/store";

/** What a process knows of the leases that it has lost. */
export interface LostLeases {
  /**
   * To be called at regular times, for gaps between them to be seen. Gives the milliseconds for which the process was
   * blocked by what it computes itself, 0 for most beats.
   */
  beat(at: { nowMs: number; computedMs: number }): number;
  /** The lease of a claim is gone, or the database is, and this process still runs. */
  lost(claim: HeldPlan, begunAtMs: number): void;
  /**
   * Gives the claims, each once, whose plans did not cost the process its leases: it has lived on, and has not been blocked since
   * it began them. A plan that blocks its process for so long that leases are lost is as bad as one that kills it; a machine
   * that has too much to do, or that stops the process, is not the plan's fault.
   */
  takeOutlived(): HeldPlan[];
  /** They could not be told of and are given again. */
  putBack(claims: readonly HeldPlan[]): void;
}

/** A process that has computed for this share of a gap was not kept from it, but busy. */
const BUSY_SHARE = 0.5;

/**
 * Of a process that has lost none. Times are monotonic milliseconds.
 * @param options.everyMs - between two beats
 * @param options.deadAfterMs - silence after which others take over; a beat that is late by half of it is a gap
 */
export function createLostLeases(options: {
  everyMs: number;
  deadAfterMs: number;
  nowMs: number;
  computedMs: number;
}): LostLeases {
  const { everyMs, deadAfterMs } = options;
  const begunAt = new Map<HeldPlan, number>();
  let last = { nowMs: options.nowMs, computedMs: options.computedMs };
  let blockedUntil = Number.NEGATIVE_INFINITY;
  return {
    beat(at) {
      const gapMs = at.nowMs - last.nowMs;
      const isBusy = at.computedMs - last.computedMs >= gapMs * BUSY_SHARE;
      last = at;
      if (gapMs <= everyMs + deadAfterMs / 2 || !isBusy) return 0;
      blockedUntil = at.nowMs;
      return gapMs;
    },
    lost(claim, at) {
      begunAt.set(claim, at);
    },
    takeOutlived() {
      const outlived = [...begunAt].flatMap(([claim, at]) => (at > blockedUntil ? [claim] : []));
      begunAt.clear();
      return outlived;
    },
    putBack(claims) {
      for (const claim of claims) begunAt.set(claim, Number.POSITIVE_INFINITY);
    },
  };
}
