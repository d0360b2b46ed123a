/**
 * Result of an append: `taken` when another entry has its seq; `failed` when it was not written, or when that
 * is unknown.
 */
export type AppendOutcome = "appended" | "taken" | "failed";

/** Counts appends to journals by their outcome. Never waits and never throws. */
export interface JournalMetrics {
  /** @param durationMs - from the call to its answer, with the wait for a bulk */
  appendEnded(outcome: AppendOutcome, durationMs: number): void;
  /** A bulk was answered by MongoDB. @param entries - entries in the bulk, also those whose seq was taken */
  bulkWritten(entries: number): void;
}

/** Reports how an append ended, and how long it took. @param monotonic - milliseconds */
export async function timedAppend<Result extends { type: "appended" | "taken" }>(
  appending: Promise<Result>,
  { metrics, monotonic }: { metrics: JournalMetrics | undefined; monotonic: () => number },
): Promise<Result> {
  const startedAt = monotonic();
  try {
    const result = await appending;
    metrics?.appendEnded(result.type, monotonic() - startedAt);
    return result;
  } catch (error) {
    metrics?.appendEnded("failed", monotonic() - startedAt);
    throw error;
  }
}
