import type { Held } from "./held.ts";

/** The leases that a process has lost. */
export interface LostLeases<Id extends string> {
  /**
   * Called regularly, to detect gaps. Returns for how many milliseconds the process was blocked by its own
   * computation, usually 0.
   */
  beat(at: { nowMs: number; computedMs: number }): number;
  /** The lease of a claim was lost, or the database was, and this process still runs. */
  lost(claim: Held<Id>, begunAtMs: number): void;
  /**
   * Returns, each once, the claims of work that did not cause the loss of leases: the process still runs, and
   * was not blocked since it started it. Work that blocks its process until leases are lost is as bad as work
   * that kills it. An overloaded machine, or one that stops the process, is not the fault of the work.
   */
  takeSurvived(): Held<Id>[];
  /** These claims could not be recorded and are returned again. */
  putBack(claims: readonly Held<Id>[]): void;
}

/** A process that used the CPU for this share of a gap was busy, not suspended. */
const BUSY_SHARE = 0.5;

/**
 * Starts without lost leases. Times are monotonic milliseconds.
 * @param options.everyMs - interval of the beats
 * @param options.deadAfterMs - time without a heartbeat after which others take over; a beat that is late by
 *   half of it is a gap
 */
export function createLostLeases<Id extends string>(options: {
  everyMs: number;
  deadAfterMs: number;
  nowMs: number;
  computedMs: number;
}): LostLeases<Id> {
  const { everyMs, deadAfterMs } = options;
  const begunAt = new Map<Held<Id>, number>();
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
    takeSurvived() {
      const survived = [...begunAt].flatMap(([claim, at]) => (at > blockedUntil ? [claim] : []));
      begunAt.clear();
      return survived;
    },
    putBack(claims) {
      for (const claim of claims) begunAt.set(claim, Number.POSITIVE_INFINITY);
    },
  };
}
