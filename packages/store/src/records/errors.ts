import { CodedError, noAnswerText } from "@planwright/plan";

/** The base of an error with this code, and of the message for its facts. */
function storeError<const Code extends string, const Retryable extends boolean, Facts extends object>(
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

/** Another worker owns the plan or request, or it has ended. The former owner writes nothing more. */
export class LeaseLostError extends storeError(
  "LEASE_LOST",
  false,
  ({ id, epoch }: { id: string; epoch: number }) =>
    `The lease on ${id} with epoch ${epoch} is no longer held`,
) {}

/** So many controls of the plan wait for its executor that no other is taken. Nothing was changed. */
export class TooManyControlsError extends storeError(
  "TOO_MANY_CONTROLS",
  true,
  ({ planId, max, maxBytes }: { planId: string; max: number; maxBytes: number }) =>
    `Too many controls of ${planId} wait for its executor (at most ${max}, of ${maxBytes} bytes together): nothing was changed`,
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
    noAnswerText("MongoDB", { at: host, setting: "MONGODB_URL", timeoutMs }),
) {}

/** MongoDB or its driver refused the document: it can never be stored as it is. */
export class WriteNotPossibleError extends storeError(
  "STORE_WRITE_NOT_POSSIBLE",
  false,
  ({ ids }: { ids: readonly string[] }) => `MongoDB refused to store ${ids.join(", ")}`,
) {}

/** The output that a step refers to was removed. The plan cannot continue. */
export class OutputMissingError extends storeError(
  "STORE_OUTPUT_MISSING",
  false,
  ({ id }: { id: string }) => `The stored output ${id} was removed`,
) {}

/** Change streams and majority writes need a replica set. */
export class StandaloneServerError extends storeError(
  "STORE_NOT_A_REPLICA_SET",
  false,
  ({ host }: { host: string }) =>
    `The MongoDB server at ${host} is not part of a replica set; start it with --replSet and run rs.initiate()`,
) {}

/** In place of the format of a database while a backup is restored into it: every version refuses to open it. */
export const RESTORING = 0;

/**
 * The database was written by a later version, or by one whose format cannot be converted. Nothing was read or
 * changed.
 */
export class DatabaseFormatError extends storeError(
  "STORE_FORMAT",
  false,
  ({ database, found, expected }: { database: string; found: number; expected: number }) =>
    found === RESTORING
      ? `A backup is being restored into the database "${database}"; if that restore was killed, drop the database and restore again`
      : found > expected
        ? `The database "${database}" has format ${found}, and this version of Planwright reads format ${expected}: install the version that wrote it, or a later one`
        : `The database "${database}" has format ${found}, which this version of Planwright (format ${expected}) cannot convert; name another database in MONGODB_URL, or remove this one (with npm start: the folder .data/planwright)`,
) {}

/** The file is not a whole backup that this version can restore, or it cannot be written. Nothing was changed. */
export class BackupFileError extends storeError(
  "BACKUP_FILE",
  false,
  ({ path, problem }: { path: string; problem: string }) => `The file ${path} cannot be used: ${problem}`,
) {}

/** A restore never changes records that are there. */
export class DatabaseNotEmptyError extends storeError(
  "DATABASE_NOT_EMPTY",
  false,
  ({ database }: { database: string }) =>
    `The database "${database}" is not empty, and a restore changes no records: name a new database in MONGODB_URL (its path, as in mongodb://127.0.0.1:27017/restored), or drop this one first`,
) {}

/** MongoDB removed the old versions of documents that the backup still had to read. */
export class SnapshotLostError extends storeError(
  "SNAPSHOT_LOST",
  true,
  ({ takenAt }: { takenAt: Date }) =>
    `MongoDB no longer has the state of ${takenAt.toISOString()}, which the backup shows: raise its parameter minSnapshotHistoryWindowInSeconds (300 by default) above the duration of the backup, and make the backup again`,
) {}

/** Group commit writes to several collections in one command, which needs MongoDB 8.0 or later. */
export class ServerTooOldError extends storeError(
  "STORE_TOO_OLD",
  false,
  ({ host }: { host: string }) => `The MongoDB server at ${host} is older than 8.0; upgrade it`,
) {}

/** The page cursor is not from this API, or is from another list. */
export class CursorInvalidError extends storeError<"CURSOR_INVALID", false, { cursor: string }>(
  "CURSOR_INVALID",
  false,
  () => "The cursor is not a cursor of this list; omit it to start at the beginning of the list",
) {}

/** The idempotency key was used before with other content. Nothing was accepted. */
export class IdempotencyKeyReusedError extends storeError(
  "IDEMPOTENCY_KEY_REUSED",
  false,
  ({ requestId }: { requestId: string }) =>
    `The idempotency key was used before with other content, for ${requestId}`,
) {}

/** A failure as clients may read it. */
export interface RecordedError {
  code: string;
  message: string;
}

/** The events are too large for one entry. An executor splits them and stores large values apart. */
export class EntryTooLargeError extends storeError(
  "STORE_ENTRY_TOO_LARGE",
  false,
  ({ place, sizeBytes, maxBytes }: { place: string; sizeBytes: number; maxBytes: number }) =>
    `Entry ${place} has ${sizeBytes} bytes; at most ${maxBytes} can be stored in one`,
) {}

/** A change could not be written: the document lags behind its journal. A later try succeeds. */
export class RequestLagsError extends storeError(
  "STORE_REQUEST_LAGS",
  true,
  ({ requestId }: { requestId: string }) => `Request ${requestId} lags behind its journal`,
) {}
