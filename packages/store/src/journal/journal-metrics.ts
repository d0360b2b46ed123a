/** What became of an append: `taken` by another entry at its place, or `failed`, when it was not written or nothing is known of it. */
export type AppendOutcome = "appended" | "taken" | "failed";

/** Hears what becomes of appends to journals, to count it. Never waits and never throws. */
export interface JournalMetrics {
  /** @param durationMs - from the call to its answer: the wait for a bulk is part of it */
  appendEnded(outcome: AppendOutcome, durationMs: number): void;
  /** A bulk was answered by MongoDB. @param entries - in it, those whose place was taken too */
  bulkWritten(entries: number): void;
}
