import type { JournalInvalidError } from "./errors.ts";
import type { JournalEntry } from "./events.ts";
import type { FoldedPlan, FoldedRequest } from "./folded.ts";

/** The entry that an event is part of, and the state that it changes. */
export interface FoldContext {
  /** A private copy: it may be changed. */
  request: FoldedRequest;
  entry: JournalEntry;
  /**
   * The plan version that the entry is about; it may be changed.
   * @throws {JournalInvalidError} when the version was not stored before
   */
  plan: () => FoldedPlan;
  invalid: (reason: string) => JournalInvalidError;
}
