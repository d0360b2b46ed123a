import type { JournalInvalidError } from "./errors.ts";
import type { JournalEntry } from "./events.ts";
import type { FoldedPlan, FoldedRequest } from "./folded.ts";

/** Where an event stands, and what it may change. */
export interface EventPlace {
  /** A copy that was not given away yet. */
  request: FoldedRequest;
  entry: JournalEntry;
  /**
   * The version that the entry is about, to be changed.
   * @throws {JournalInvalidError} when it was not stored before
   */
  plan: () => FoldedPlan;
  invalid: (reason: string) => JournalInvalidError;
}
