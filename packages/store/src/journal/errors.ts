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

/** A request's document does not say what its journal tells, and goes on not to: a process is just changing it, or has died. Asked again later it does. */
export class RequestLagsError extends CodedError<{ requestId: string }> {
  readonly code = "STORE_REQUEST_LAGS";
  readonly retryable = true;
  constructor(facts: { requestId: string }) {
    super(`Request ${facts.requestId} does not say yet what its journal tells`, facts);
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
