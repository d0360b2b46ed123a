import type { Contender } from "./contenders/contender.ts";
import { percentile } from "./figures.ts";

/** The figures of a run; all of them are per plan, except `plans` and `plansPerSecond`. */
export interface BenchFigures {
  plans: number;
  plansPerSecond: number;
  p50Ms: number;
  p99Ms: number;
  /** By process name. */
  cpuMs: Record<string, number>;
  /** Counters of the servers; empty when not known. */
  counts: Record<string, number>;
}

/** Medians of one contender at one load. */
export type Measurement = Pick<Contender, "name" | "versions" | "steps" | "end"> & {
  inFlight: number;
  figures: BenchFigures;
};

type Cells = Record<string, string | number>;

/** Rows for console.table, a column for each measurement. Pure. */
export function tableOf(measurements: readonly Measurement[]): Record<string, Cells> {
  const rows: Record<string, Cells> = {};
  for (const cellsOf of [versionCells, loadCells, cpuCells, countCells]) {
    for (const measurement of measurements) {
      const column = `${measurement.name}, ${measurement.inFlight}`;
      for (const [row, cell] of Object.entries(cellsOf(measurement))) {
        rows[row] = { ...rows[row], [column]: cell };
      }
    }
  }
  return rows;
}

const versionCells = ({ versions }: Measurement): Cells => ({ ...versions });

function loadCells({ steps, end, inFlight, figures }: Measurement): Cells {
  const { plans, plansPerSecond, p50Ms, p99Ms } = figures;
  return {
    steps,
    "end reported by": end,
    "in flight": inFlight,
    plans,
    "plans/s": plansPerSecond,
    "p50 ms": p50Ms,
    "p99 ms": p99Ms,
  };
}

function cpuCells({ figures: { cpuMs } }: Measurement): Cells {
  const sum = Object.values(cpuMs).reduce((ms, each) => ms + each, 0);
  const ofEach = Object.entries(cpuMs).map(([name, ms]) => [`CPU ms/plan, ${name}`, ms]);
  return { "CPU ms/plan, all": Math.round(sum * 100) / 100, ...Object.fromEntries(ofEach) };
}

const countCells = ({ figures: { counts } }: Measurement): Cells =>
  Object.fromEntries(Object.entries(counts).map(([name, count]) => [`${name}/plan`, count]));

/**
 * The median of each figure over the rounds; for an even number of rounds the lower of the two middle
 * figures. Pure.
 * @param rounds - one or more
 */
export function mediansOf(rounds: readonly BenchFigures[]): BenchFigures {
  const of = (read: (figures: BenchFigures) => number): number => percentile(rounds.map(read), 0.5);
  const byName = (read: (figures: BenchFigures) => Record<string, number>): Record<string, number> => {
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
