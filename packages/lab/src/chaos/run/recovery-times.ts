import type { Change } from "../evidence/change.ts";
import { isGivenUp, pidOf } from "../evidence/plan-holders.ts";

/** A process that was killed. */
export interface KilledProcess {
  pid: number;
  /** Unix milliseconds. */
  at: number;
}

/**
 * For each plan that a killed executor held: the time from its death until another executor claimed it, in
 * milliseconds, ascending. A plan whose end was already on its way when the process died needs no executor
 * and does not count. Pure.
 */
export function recoveryTimes(changes: readonly Change[], kills: readonly KilledProcess[]): number[] {
  const times: number[] = [];
  /** Plans by id: their owners so far. */
  const held = new Map<string, { owner: string; epoch: number }>();
  /** Plans by id: the death of their owner. */
  const orphaned = new Map<string, { epoch: number; at: number }>();
  const deaths = kills.toSorted((a, b) => a.at - b.at);
  let next = 0;

  function bury(until: number): void {
    for (let death = deaths[next]; death !== undefined && death.at <= until; death = deaths[next]) {
      for (const [id, { owner, epoch }] of held) {
        if (pidOf(owner) === death.pid) orphaned.set(id, { epoch, at: death.at });
      }
      next += 1;
    }
  }

  for (const change of changes) {
    const { collection, id, at, epoch, owner } = change;
    bury(at);
    if (collection !== "plans") continue;
    const wait = orphaned.get(id);
    if (wait !== undefined && epoch !== undefined && epoch > wait.epoch) {
      times.push(at - wait.at);
      orphaned.delete(id);
    }
    if (owner !== undefined && epoch !== undefined) held.set(id, { owner, epoch });
    if (isGivenUp(change)) {
      held.delete(id);
      orphaned.delete(id);
    }
  }
  return times.toSorted((a, b) => a - b);
}

/** The value below which this share of sorted values lies; null when there are none. */
export function percentile(sorted: readonly number[], share: number): number | null {
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? null;
}
