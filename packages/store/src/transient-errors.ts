/** Which errors of the driver mean "not now" and which mean "never". */

const DUPLICATE_KEY = 11_000;

/** An insert met a document with the same key. */
export function isDuplicateKey(error: unknown): boolean {
  return codeOf(error) === DUPLICATE_KEY;
}

/**
 * True when MongoDB was not reached or could not answer, so that the same operation may succeed later. A refusal by the
 * server of what was asked has a code of its own, and asking again helps nobody.
 */
export function isTransient(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (TRANSIENT_NAMES.has(error.name)) return true;
  if (error instanceof AggregateError) return error.errors.some(isTransient);
  const parts = "writeConcernErrors" in error ? error.writeConcernErrors : undefined;
  if (Array.isArray(parts) && parts.length > 0) return true;
  const response = "errorResponse" in error ? error.errorResponse : undefined;
  return (
    [codeOf(error), codeOf(error.cause), codeOf(response)].some((code) =>
      RETRYABLE_SERVER_CODES.has(code ?? -1),
    ) ||
    (error.cause instanceof Error && isTransient(error.cause))
  );
}

const TRANSIENT_NAMES = new Set([
  "MongoNetworkError",
  "MongoNetworkTimeoutError",
  "MongoServerSelectionError",
  "MongoOperationTimeoutError",
  "MongoPoolClearedError",
  "PoolClearedOnNetworkError",
  "MongoNotConnectedError",
  "MongoWaitQueueTimeoutError",
]);

/** Not primary, shutting down, interrupted by a step-down, write concern or time limit not met. */
const RETRYABLE_SERVER_CODES = new Set([
  6, 7, 50, 64, 89, 91, 189, 262, 9001, 10_058, 10_107, 11_600, 11_602, 13_435, 13_436,
]);

function codeOf(error: unknown): number | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  return typeof error.code === "number" ? error.code : undefined;
}
