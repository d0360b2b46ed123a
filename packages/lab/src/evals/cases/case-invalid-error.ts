import { CodedError } from "@planwright/plan";

/** A case whose wanted ending is impossible, so that it measures nothing. */
export class CaseInvalidError extends CodedError<{ reason: string }> {
  readonly code = "CASE_INVALID";
  readonly retryable = false;
  constructor(facts: { reason: string }, cause?: unknown) {
    super(`A case is wrong: ${facts.reason}`, facts, { cause });
  }
}
