import { CodedError } from "@planwright/plan";

/** Another worker owns the plan or request now, or it has ended. The former holder stops and writes nothing more. */
export class LeaseLostError extends CodedError<{ id: string; epoch: number }> {
  readonly code = "LEASE_LOST";
  readonly retryable = false;
  constructor(facts: { id: string; epoch: number }) {
    super(`The lease on ${facts.id} with epoch ${facts.epoch} is no longer held`, facts);
  }
}

/** MongoDB did not answer in time. Whether the write was done is unknown; a later try may succeed. */
export class StoreUnavailableError extends CodedError<{ operation: string }> {
  readonly code = "STORE_UNAVAILABLE";
  readonly retryable = true;
  constructor(facts: { operation: string }, cause?: unknown) {
    super(`MongoDB did not answer (${facts.operation})`, facts, { cause });
  }
}

/** MongoDB, or its driver, refused what was to be written: it can never be stored as it is. */
export class WriteNotPossibleError extends CodedError<{ ids: readonly string[] }> {
  readonly code = "STORE_WRITE_NOT_POSSIBLE";
  readonly retryable = false;
  constructor(facts: { ids: readonly string[] }, cause?: unknown) {
    super(`MongoDB refused to store ${facts.ids.join(", ")}`, facts, { cause });
  }
}

/** An output that a step refers to is not there: it was removed. The plan cannot continue. */
export class OutputMissingError extends CodedError<{ id: string }> {
  readonly code = "STORE_OUTPUT_MISSING";
  readonly retryable = false;
  constructor(facts: { id: string }) {
    super(`The stored output ${facts.id} is gone`, facts);
  }
}

/** Change streams and majority writes need a replica set. */
export class StandaloneServerError extends CodedError<{ host: string }> {
  readonly code = "STORE_NOT_A_REPLICA_SET";
  readonly retryable = false;
  constructor(facts: { host: string }) {
    super(
      `The MongoDB server at ${facts.host} is not part of a replica set; start it with --replSet and run rs.initiate()`,
      facts,
    );
  }
}

/** The database was written by a version that stores its documents otherwise. Nothing was read or changed. */
export class DatabaseFormatError extends CodedError<{ database: string; found: number; expected: number }> {
  readonly code = "STORE_FORMAT";
  readonly retryable = false;
  constructor(facts: { database: string; found: number; expected: number }) {
    super(
      `The database "${facts.database}" is of format ${facts.found}, and this version of Planwright reads format ${facts.expected} alone; name another database in MONGODB_URL, or remove this one (of npm start: the folder .data/planwright)`,
      facts,
    );
  }
}

/** Group commit writes to several collections in one command, which MongoDB can do from 8.0 on. */
export class ServerTooOldError extends CodedError<{ host: string }> {
  readonly code = "STORE_TOO_OLD";
  readonly retryable = false;
  constructor(facts: { host: string }) {
    super(`The MongoDB server at ${facts.host} is older than 8.0; upgrade it`, facts);
  }
}

/** A page cursor that is not from this API. */
export class CursorInvalidError extends CodedError<{ cursor: string }> {
  readonly code = "CURSOR_INVALID";
  readonly retryable = false;
  constructor(facts: { cursor: string }) {
    super(
      "The cursor is not one that was given out; leave it away to start at the beginning of the list",
      facts,
    );
  }
}

/** The key of a submission stands for another one. Nothing was accepted. */
export class IdempotencyKeyReusedError extends CodedError<{ requestId: string }> {
  readonly code = "IDEMPOTENCY_KEY_REUSED";
  readonly retryable = false;
  constructor(facts: { requestId: string }) {
    super(`The idempotency key was used for something else, which became ${facts.requestId}`, facts);
  }
}

/** What clients may read of a failure. */
export interface RecordedError {
  code: string;
  message: string;
}
