import type { Contender } from "../contenders/contender.ts";
import type { Figures } from "./measure.ts";

/** Medians of one contender at one load. */
export type Measurement = Pick<Contender, "name" | "versions" | "steps" | "end"> & {
  inFlight: number;
  figures: Figures;
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
