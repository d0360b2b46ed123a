import type { ClientSession } from "mongodb";
import type { JournalMetrics } from "./journal-metrics.ts";

/** Counts appends inside transactions: an entry is there once its transaction is committed, and not before. */
export interface SessionAppends {
  /** A transaction begins, or begins anew: what was inserted before is gone. */
  begun(session: ClientSession): void;
  inserted(session: ClientSession, durationMs: number): void;
  /** Another entry stood at the place. */
  taken(durationMs: number): void;
  committed(session: ClientSession): void;
}

/** @param metrics - hears of each append. Default: nothing is counted */
export function createSessionAppends(metrics: JournalMetrics | undefined): SessionAppends {
  const inserts = new WeakMap<ClientSession, number[]>();
  return {
    begun: (session) => void inserts.delete(session),
    inserted(session, durationMs) {
      inserts.set(session, [...(inserts.get(session) ?? []), durationMs]);
    },
    taken: (durationMs) => metrics?.appendEnded("taken", durationMs),
    committed(session) {
      for (const durationMs of inserts.get(session) ?? []) metrics?.appendEnded("appended", durationMs);
      inserts.delete(session);
    },
  };
}
