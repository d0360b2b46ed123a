import type { StepRun } from "@planwright/client";

/** The items of a list by status, the most urgent first. */
export interface Histogram {
  total: number;
  bins: readonly { status: string; count: number }[];
}

/** The order of the bins: failed, waiting for a person, running, ended, not begun. */
const ORDER = [
  "FAILED",
  "IN_DOUBT",
  "WAITING_APPROVAL",
  "RETRYING",
  "RUNNING",
  "COMPLETED",
  "SKIPPED",
  "CANCELLED",
  "PENDING",
];

const rankOf = (status: string): number => (ORDER.includes(status) ? ORDER.indexOf(status) : ORDER.length);

/** Counts the items of each list by status. A list without known items has no histogram. */
export function histogramsOf(
  steps: readonly Pick<StepRun, "id" | "item" | "status">[],
): ReadonlyMap<string, Histogram> {
  const counts = new Map<string, Map<string, number>>();
  for (const { id, item, status } of steps) {
    if (item === null) continue;
    const ofStep = counts.get(id) ?? new Map<string, number>();
    counts.set(id, ofStep);
    ofStep.set(status, (ofStep.get(status) ?? 0) + 1);
  }
  return new Map([...counts].map(([id, ofStep]) => [id, histogramOf(ofStep)]));
}

function histogramOf(counts: ReadonlyMap<string, number>): Histogram {
  const bins = [...counts]
    .map(([status, count]) => ({ status, count }))
    .toSorted((a, b) => rankOf(a.status) - rankOf(b.status));
  return { total: bins.reduce((sum, { count }) => sum + count, 0), bins };
}
