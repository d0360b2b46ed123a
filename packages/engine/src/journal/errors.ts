import { CodedError } from "@planwright/plan";

/**
 * An entry says what cannot follow from the entries before it: the journal was not written by its rules, or
 * not read whole.
 */
export class JournalInvalidError extends CodedError<{ requestId: string; seq: number; reason: string }> {
  readonly code = "JOURNAL_INVALID";
  readonly retryable = false;
  constructor(facts: { requestId: string; seq: number; reason: string }) {
    super(`Entry ${facts.seq} of ${facts.requestId} cannot be: ${facts.reason}`, facts);
  }
}
