import { CodedError } from "@planwright/plan";

/** Events that are too large together for one entry: they go into several, and what is large among them stands aside. */
export class EntryTooLargeError extends CodedError<{ place: string; sizeBytes: number; maxBytes: number }> {
  readonly code = "STORE_ENTRY_TOO_LARGE";
  readonly retryable = false;
  constructor(facts: { place: string; sizeBytes: number; maxBytes: number }) {
    super(
      `Entry ${facts.place} has ${facts.sizeBytes} bytes; at most ${facts.maxBytes} can be stored in one`,
      facts,
    );
  }
}

/** Another entry came between what was read of a journal and what was to follow from it: that is done anew. */
export class JournalMovedError extends CodedError<{ place: string }> {
  readonly code = "STORE_JOURNAL_MOVED";
  readonly retryable = true;
  constructor(facts: { place: string }) {
    super(`Entry ${facts.place} was written by another process meanwhile`, facts);
  }
}
