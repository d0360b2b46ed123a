/** A process that lives through ranges of seeds for `run-seeds.ts`. */
import { type SeedResult, simulateSeed } from "./simulate-seed.ts";

/** What a worker says of a range. */
export interface RangeReport {
  seeds: number;
  events: number;
  simulatedMs: number;
  /** Those with a violation. */
  failures: SeedResult[];
}

/** Lives through the seeds of a range, one after the other. */
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

// Errors are part of a simulated life: their stacks are not read. A replay in the main process does.
if (process.send) Error.stackTraceLimit = 0;
process.on("message", (range: { from: number; to: number }) => {
  void simulateRange(range).then((report) => process.send?.(report));
});
