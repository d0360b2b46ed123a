import type { Registry } from "prom-client";
import { createMeters } from "./create-meters.ts";

/** Counts appends to journals by their outcome, as `JournalMetrics` of `@planwright/store`. */
export interface JournalCounters {
  appendEnded(outcome: "appended" | "taken" | "failed", durationMs: number): void;
  bulkWritten(entries: number): void;
}

/**
 * Bounds of buckets: from a write to a fast disk to appends that are retried while MongoDB cannot be reached.
 */
const APPEND_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/**
 * Registers the metrics of journal appends. The names are the same in every service; the label `service`
 * differs.
 */
export function createJournalMetrics(registry: Registry): JournalCounters {
  const { counter, histogram } = createMeters(registry, "planwright_journal");
  const entries = counter("entries_total", "Entries appended to journals, and durable");
  const bulks = counter("bulks_total", "Bulks of entries that MongoDB answered");
  const refused = counter("refused_total", "Appends refused because another entry had their sequence number");
  const failed = counter("failed_total", "Appends that could not be written, or whose result is unknown");
  const latency = histogram(
    "append_duration_seconds",
    "Duration of appends, appended or refused, including the wait for their bulk",
    { seconds: APPEND_SECONDS },
  );
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
