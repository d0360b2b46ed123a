import { CodedError } from "@planwright/plan";

/**
 * The base of an error with this code.
 * @param messageOf - what its message says of its facts
 */
export function storeError<const Code extends string, const Retryable extends boolean, Facts extends object>(
  code: Code,
  retryable: Retryable,
  messageOf: (facts: Facts) => string,
) {
  return class extends CodedError<Facts> {
    readonly code = code;
    readonly retryable = retryable;
    constructor(facts: Facts, cause?: unknown) {
      super(messageOf(facts), facts, { cause });
    }
  };
}

/**
 * Another worker owns the plan or request now, or it has ended. The former holder stops and writes nothing
 * more.
 */
export class LeaseLostError extends storeError(
  "LEASE_LOST",
  false,
  ({ id, epoch }: { id: string; epoch: number }) =>
    `The lease on ${id} with epoch ${epoch} is no longer held`,
) {}

/** MongoDB did not answer in time. Whether the write was done is unknown; a later try may succeed. */
export class StoreUnavailableError extends storeError(
  "STORE_UNAVAILABLE",
  true,
  ({ operation }: { operation: string }) => `MongoDB did not answer (${operation})`,
) {}

/** MongoDB was not reached when the store was opened. */
export class StoreNotReachedError extends storeError(
  "STORE_NOT_REACHED",
  true,
  ({ host, timeoutMs }: { host: string; timeoutMs: number }) =>
    `MongoDB at ${host} did not answer within ${timeoutMs / 1_000} s; check that it runs, and that MONGODB_URL names it`,
) {}

/** MongoDB, or its driver, refused what was to be written: it can never be stored as it is. */
export class WriteNotPossibleError extends storeError(
  "STORE_WRITE_NOT_POSSIBLE",
  false,
  ({ ids }: { ids: readonly string[] }) => `MongoDB refused to store ${ids.join(", ")}`,
) {}

/** An output that a step refers to is not there: it was removed. The plan cannot continue. */
export class OutputMissingError extends storeError(
  "STORE_OUTPUT_MISSING",
  false,
  ({ id }: { id: string }) => `The stored output ${id} is gone`,
) {}

/** Change streams and majority writes need a replica set. */
export class StandaloneServerError extends storeError(
  "STORE_NOT_A_REPLICA_SET",
  false,
  ({ host }: { host: string }) =>
    `The MongoDB server at ${host} is not part of a replica set; start it with --replSet and run rs.initiate()`,
) {}

/** The database was written by a version that stores its documents otherwise. Nothing was read or changed. */
export class DatabaseFormatError extends storeError(
  "STORE_FORMAT",
  false,
  ({ database, found, expected }: { database: string; found: number; expected: number }) =>
    `The database "${database}" is of format ${found}, and this version of Planwright reads format ${expected} alone; name another database in MONGODB_URL, or remove this one (of npm start: the folder .data/planwright)`,
) {}

/** Group commit writes to several collections in one command, which MongoDB can do from 8.0 on. */
export class ServerTooOldError extends storeError(
  "STORE_TOO_OLD",
  false,
  ({ host }: { host: string }) => `The MongoDB server at ${host} is older than 8.0; upgrade it`,
) {}

/** A page cursor that is not from this API. */
export class CursorInvalidError extends storeError<"CURSOR_INVALID", false, { cursor: string }>(
  "CURSOR_INVALID",
  false,
  () => "The cursor is not one that was given out; leave it away to start at the beginning of the list",
) {}

/** The key of a submission stands for another one. Nothing was accepted. */
export class IdempotencyKeyReusedError extends storeError(
  "IDEMPOTENCY_KEY_REUSED",
  false,
  ({ requestId }: { requestId: string }) =>
    `The idempotency key was used for something else, which became ${requestId}`,
) {}

/** What clients may read of a failure. */
export interface RecordedError {
  code: string;
  message: string;
}
