/**
 * Result of an append: `taken` by another entry at its place; `failed` when it was not written, or when that
 * is unknown.
 */
export type AppendOutcome = "appended" | "taken" | "failed";

/** Counts appends to journals by their outcome. Never waits and never throws. */
export interface JournalMetrics {
  /** @param durationMs - from the call to its answer: the wait for a bulk is part of it */
  appendEnded(outcome: AppendOutcome, durationMs: number): void;
  /** A bulk was answered by MongoDB. @param entries - in it, those whose place was taken too */
  bulkWritten(entries: number): void;
}

/** Tells how an append ended, and how long it took. @param monotonic - milliseconds */
export async function timedAppend<Result extends { type: "appended" | "taken" }>(
  appending: Promise<Result>,
  { metrics, monotonic }: { metrics: JournalMetrics | undefined; monotonic: () => number },
): Promise<Result> {
  const begunAt = monotonic();
  try {
    const result = await appending;
    metrics?.appendEnded(result.type, monotonic() - begunAt);
    return result;
  } catch (error) {
    metrics?.appendEnded("failed", monotonic() - begunAt);
    throw error;
  }
}
