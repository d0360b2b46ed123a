import { expect, test } from "vitest";
import { createJournalMetrics, createMetrics } from "./create-metrics.ts";

test("appends have the same metric names in all services, which differ by their label", async () => {
  const registry = createMetrics("executor");
  const metrics = createJournalMetrics(registry);
  metrics.bulkWritten(3);
  metrics.appendEnded("appended", 4);
  metrics.appendEnded("appended", 40);
  metrics.appendEnded("taken", 4);
  metrics.appendEnded("failed", 30_000);
  const text = await registry.metrics();
  const shown = text.split("\n").filter((line) => /^planwright_journal_\w+(?<!bucket)\{/.test(line));
  expect(shown.toSorted()).toEqual([
    'planwright_journal_append_duration_seconds_count{service="executor"} 3',
    'planwright_journal_append_duration_seconds_sum{service="executor"} 0.048',
    'planwright_journal_bulks_total{service="executor"} 1',
    'planwright_journal_entries_total{service="executor"} 2',
    'planwright_journal_failed_total{service="executor"} 1',
    'planwright_journal_refused_total{service="executor"} 1',
  ]);
  expect(text).toContain(
    'planwright_journal_append_duration_seconds_bucket{le="0.005",service="executor"} 2',
  );
});
