import type { Change } from "../evidence/change.ts";
import { isReleased, pidOf } from "../evidence/plan-holders.ts";

/** A process that was killed. */
export interface KilledProcess {
  pid: number;
  /** Unix milliseconds. */
  at: number;
}

/**
 * For each plan that a killed executor held: the time from the kill until another executor claimed the plan,
 * in milliseconds, ascending. A plan whose end was being written when the process died needs no executor and
 * does not count. Pure.
 */
export function recoveryTimes(changes: readonly Change[], kills: readonly KilledProcess[]): number[] {
  const times: number[] = [];
  /** Current owners, by plan id. */
  const held = new Map<string, { owner: string; epoch: number }>();
  /** Deaths of owners, by plan id. */
  const orphaned = new Map<string, { epoch: number; at: number }>();
  const deaths = kills.toSorted((a, b) => a.at - b.at);
  let next = 0;

  function orphanPlansOfDead(until: number): void {
    for (let death = deaths[next]; death !== undefined && death.at <= until; death = deaths[next]) {
      for (const [id, { owner, epoch }] of held) {
        if (pidOf(owner) === death.pid) orphaned.set(id, { epoch, at: death.at });
      }
      next += 1;
    }
  }

  for (const change of changes) {
    const { collection, id, at, epoch, owner } = change;
    orphanPlansOfDead(at);
    if (collection !== "plans") continue;
    const orphan = orphaned.get(id);
    if (orphan !== undefined && epoch !== undefined && epoch > orphan.epoch) {
      times.push(at - orphan.at);
      orphaned.delete(id);
    }
    if (owner !== undefined && epoch !== undefined) held.set(id, { owner, epoch });
    if (isReleased(change)) {
      held.delete(id);
      orphaned.delete(id);
    }
  }
  return times.toSorted((a, b) => a - b);
}

/** The value below which this share of the sorted values is; null for an empty list. */
export function percentile(sorted: readonly number[], share: number): number | null {
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? null;
}
