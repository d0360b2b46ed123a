import { percentile } from "../../measuring/statistics.ts";
import type { Figures } from "./measure.ts";

/**
 * The median of each figure over the rounds; for an even number of rounds the lower of the two middle
 * figures. Pure.
 * @param rounds - one or more
 */
export function mediansOf(rounds: readonly Figures[]): Figures {
  const of = (read: (figures: Figures) => number): number => percentile(rounds.map(read), 0.5);
  const byName = (read: (figures: Figures) => Record<string, number>): Record<string, number> => {
    const names = new Set(rounds.flatMap((figures) => Object.keys(read(figures))));
    return Object.fromEntries([...names].map((name) => [name, of((figures) => read(figures)[name] ?? 0)]));
  };
  return {
    plans: of(({ plans }) => plans),
    plansPerSecond: of(({ plansPerSecond }) => plansPerSecond),
    p50Ms: of(({ p50Ms }) => p50Ms),
    p99Ms: of(({ p99Ms }) => p99Ms),
    cpuMs: byName(({ cpuMs }) => cpuMs),
    counts: byName(({ counts }) => counts),
  };
}
