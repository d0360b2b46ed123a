import { CodedError } from "@planwright/plan";

/**
 * An entry cannot follow the entries before it: the journal was written against its rules, or was not read
 * completely.
 */
export class JournalInvalidError extends CodedError<{ requestId: string; seq: number; reason: string }> {
  readonly code = "JOURNAL_INVALID";
  readonly retryable = false;
  constructor(facts: { requestId: string; seq: number; reason: string }) {
    super(`Entry ${facts.seq} of ${facts.requestId} is invalid: ${facts.reason}`, facts);
  }
}
