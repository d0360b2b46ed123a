/** Which errors of the driver mean "not now" and which mean "never". */

import { setTimeout as delay } from "node:timers/promises";
import { type Collection, MongoClientBulkWriteError, MongoServerError } from "mongodb";
import { StoreUnavailableError } from "../records/errors.ts";

const DUPLICATE_KEY = 11_000;
const MAX_TIME_EXPIRED = 50;
const WRITE_CONFLICT = 112;

/** An insert failed because a document with the same key was there. */
export function isDuplicateKey(error: unknown): boolean {
  return codeOf(error) === DUPLICATE_KEY;
}

/** Documents are there but cannot be read: no majority has committed them. The operation is repeated. */
export function notCommittedYet(ids: readonly string[]): MongoServerError {
  const message = `${ids.join(", ")} cannot be read yet: no majority has committed it`;
  return new MongoServerError({ message, code: WRITE_CONFLICT });
}

/** A bulk over several collections failed only because documents with the same keys were there. */
export function isBulkOfDuplicates(error: unknown): boolean {
  if (!(error instanceof MongoClientBulkWriteError) || error.writeConcernErrors.length > 0) return false;
  const errors = [...error.writeErrors.values()];
  return errors.length > 0 && errors.every((one) => isDuplicateKey(one));
}

/**
 * True when MongoDB was not reached or could not answer, so that the same operation may succeed later. False
 * when the server refused the operation: a repeat does not help.
 */
export function isTransient(error: unknown): boolean {
  if (typeof error !== "object" || error === null) return false;
  if (RETRYABLE_SERVER_CODES.has(codeOf(error) ?? -1)) return true;
  if ("code" in error && SOCKET_CODES.has(error.code)) return true;
  if (error instanceof Error && TRANSIENT_NAMES.has(error.name)) return true;
  if (labelsOf(error).some((label) => TRANSIENT_LABELS.has(label))) return true;
  return partsOf(error).some((part) => part !== error && isTransient(part));
}

/** The server stopped an operation that took longer than its time limit. */
export function isTimeLimit(error: unknown): boolean {
  if (codeOf(error) === MAX_TIME_EXPIRED) return true;
  return (
    typeof error === "object" &&
    error !== null &&
    partsOf(error).some((part) => part !== error && isTimeLimit(part))
  );
}

/** The errors that the driver wrapped: of bulk writes, of several servers, or an answer of the server. */
function partsOf(error: object): unknown[] {
  if (error instanceof AggregateError) return error.errors;
  const response = "errorResponse" in error ? error.errorResponse : undefined;
  const writeConcerns =
    "writeConcernErrors" in error && Array.isArray(error.writeConcernErrors) ? error.writeConcernErrors : [];
  // A write concern that was not met may be met later, or the write is sent again.
  if (writeConcerns.length > 0) return [{ code: WRITE_CONCERN_FAILED }];
  return ["cause" in error ? error.cause : undefined, response, ...writeErrorsOf(error)];
}

/** The errors of single writes of a bulk: a server that steps down refuses those that are left. */
function writeErrorsOf(error: object): unknown[] {
  if (!("writeErrors" in error)) return [];
  const { writeErrors } = error;
  return writeErrors instanceof Map ? [...writeErrors.values()] : [writeErrors].flat();
}

function labelsOf(error: object): unknown[] {
  return "errorLabels" in error && Array.isArray(error.errorLabels) ? error.errorLabels : [];
}

const WRITE_CONCERN_FAILED = 64;
/** The server says that it cannot take the write now: it steps down, starts or stops. */
const TRANSIENT_LABELS = new Set<unknown>(["RetryableWriteError", "TransientTransactionError"]);
const TRANSIENT_NAMES = new Set([
  "MongoNetworkError",
  "MongoNetworkTimeoutError",
  "MongoServerSelectionError",
  "MongoOperationTimeoutError",
  "MongoPoolClearedError",
  "PoolClearedOnNetworkError",
  "MongoNotConnectedError",
  "MongoWaitQueueTimeoutError",
  "MongoWriteConcernError",
]);

/** Codes of sockets: the driver throws such an error as it is when a connection breaks in a large write. */
const SOCKET_CODES = new Set<unknown>([
  "ECONNABORTED",
  "ECONNRESET",
  "EPIPE",
  "ERR_SOCKET_CLOSED",
  "ERR_STREAM_DESTROYED",
  "ERR_STREAM_PREMATURE_CLOSE",
  "ERR_STREAM_WRITE_AFTER_END",
  "ETIMEDOUT",
]);

/**
 * Not primary, shutting down, interrupted by a step-down, write concern or time limit not met, lock not
 * acquired, write conflict, or a transaction that the server aborted because it took too long (290: has no
 * label when the commit reports it).
 */
const RETRYABLE_SERVER_CODES = new Set([
  6, 7, 24, 50, 64, 89, 91, 112, 189, 251, 262, 290, 9001, 10_058, 10_107, 11_600, 11_602, 13_435, 13_436,
]);

function codeOf(error: unknown): number | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  return typeof error.code === "number" ? error.code : undefined;
}

/** Stores a document, unless it is there already. */
export async function insertUnlessThere<Stored extends { _id: string }>(
  collection: Pick<Collection<Stored>, "insertOne">,
  document: Stored,
): Promise<void> {
  try {
    await collection.insertOne(document as never);
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
  }
}

/** How an operation is repeated while MongoDB gives no answer. */
export interface Retry {
  /** Monotonic milliseconds. Default `performance.now`. */
  monotonic?: (() => number) | undefined;
  /** Waits. Default: a timer. */
  sleep?: ((ms: number) => Promise<void>) | undefined;
  /** How long it is repeated, in milliseconds. Default 30,000. */
  retryForMs?: number | undefined;
  /** The wait between two tries, in milliseconds. Default 250. */
  retryEveryMs?: number | undefined;
}

/**
 * Repeats an operation on the database while no answer comes. An attempt whose answer was lost may have done
 * it.
 * @param operation - its name, for the error
 * @param attempt - `isRepeat` is true from the second time on
 * @throws {StoreUnavailableError} after `retryForMs`; any other error of an attempt is thrown as it is
 */
export async function repeatUntilAnswered<T>(
  operation: string,
  attempt: (isRepeat: boolean) => Promise<T>,
  { monotonic = () => performance.now(), sleep = delay, retryForMs = 30_000, retryEveryMs = 250 }: Retry = {},
): Promise<T> {
  const deadlineAt = monotonic() + retryForMs;
  for (let isRepeat = false; ; isRepeat = true) {
    try {
      return await attempt(isRepeat);
    } catch (error) {
      if (!isTransient(error)) throw error;
      if (monotonic() > deadlineAt) throw new StoreUnavailableError({ operation }, error);
      await sleep(retryEveryMs);
    }
  }
}
