import { CodedError } from "@planwright/plan";

/** Events that are too large together for one entry. An executor splits them over several entries and stores large values separately. */
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

/** A request's document still lags behind its journal: a process is just writing it, or has died. A later try succeeds. */
export class RequestLagsError extends CodedError<{ requestId: string }> {
  readonly code = "STORE_REQUEST_LAGS";
  readonly retryable = true;
  constructor(facts: { requestId: string }) {
    super(`Request ${facts.requestId} lags behind its journal`, facts);
  }
}

/** The writes that follow from these entries cannot be done. They stay in the outbox, each under the `writeId` of its entry, until an operator removes them. */
export class OutboxStuckError extends CodedError<{ writeIds: readonly string[] }> {
  readonly code = "STORE_OUTBOX_STUCK";
  readonly retryable = false;
  constructor(facts: { writeIds: readonly string[] }, cause: unknown) {
    super(
      `The outbox documents ${facts.writeIds.join(", ")} cannot be followed; look at them in MongoDB`,
      facts,
      {
        cause,
      },
    );
  }
}
