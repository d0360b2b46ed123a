/** A process that simulates ranges of seeds for `run-seeds.ts`. */
import { type SeedResult, simulateSeed } from "./simulate-seed.ts";

/** The result of a range of seeds. */
export interface RangeReport {
  seeds: number;
  events: number;
  simulatedMs: number;
  /** The seeds with a violation. */
  failures: SeedResult[];
}

/** Simulates the seeds of a range, one after the other. */
export async function simulateRange({ from, to }: { from: number; to: number }): Promise<RangeReport> {
  const report: RangeReport = { seeds: 0, events: 0, simulatedMs: 0, failures: [] };
  for (let seed = from; seed < to; seed++) {
    const result = await simulateSeed(seed);
    report.seeds += 1;
    report.events += result.events;
    report.simulatedMs += result.endedAt;
    if (result.violation) report.failures.push(result);
  }
  return report;
}

// Errors are normal in a simulation, so a worker skips their stack traces. A replay in the main process keeps
// them.
if (process.send) Error.stackTraceLimit = 0;
process.on("message", (range: { from: number; to: number }) => {
  void simulateRange(range).then((report) => process.send?.(report));
});
