import { Counter, Histogram, type Registry } from "prom-client";

/** Counts appends to journals by their outcome, as `JournalMetrics` of `@planwright/store`. */
export interface JournalCounters {
  appendEnded(outcome: "appended" | "taken" | "failed", durationMs: number): void;
  bulkWritten(entries: number): void;
}

/** From a write to a fast disk to a MongoDB that is away for as long as appends are tried. */
const APPEND_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Registers what a process appends to journals: the same names in every service, told apart by the label `service`. */
export function createJournalMetrics(registry: Registry): JournalCounters {
  const registers = [registry];
  const counter = (name: string, help: string): Counter =>
    new Counter({ registers, name: `planwright_journal_${name}_total`, help });
  const entries = counter("entries", "Entries appended to journals, and durable");
  const bulks = counter("bulks", "Bulks of entries that MongoDB answered");
  const refused = counter("refused", "Appends refused because another entry had taken their place");
  const failed = counter("failed", "Appends of which nothing is known, or that could not be written");
  const latency = new Histogram({
    registers,
    name: "planwright_journal_append_duration_seconds",
    help: "How long appends took, appended or refused, with the wait for their bulk",
    buckets: APPEND_SECONDS,
  });
  return {
    appendEnded(outcome, durationMs) {
      if (outcome === "failed") {
        failed.inc();
        return;
      }
      (outcome === "appended" ? entries : refused).inc();
      latency.observe(durationMs / 1_000);
    },
    bulkWritten: () => bulks.inc(),
  };
}
