import { storeError } from "../records/errors.ts";

/**
 * The events are together too large for one entry. An executor splits them over several entries and stores
 * large values separately.
 */
export class EntryTooLargeError extends storeError(
  "STORE_ENTRY_TOO_LARGE",
  false,
  ({ place, sizeBytes, maxBytes }: { place: string; sizeBytes: number; maxBytes: number }) =>
    `Entry ${place} has ${sizeBytes} bytes; at most ${maxBytes} can be stored in one`,
) {}

/**
 * The document of a request still lags behind its journal: a process is writing it now, or has died. A later
 * try succeeds.
 */
export class RequestLagsError extends storeError(
  "STORE_REQUEST_LAGS",
  true,
  ({ requestId }: { requestId: string }) => `Request ${requestId} lags behind its journal`,
) {}

/**
 * The request was removed, because it ended long ago, after this change of it was decided. The change is taken
 * back: nothing of it is left.
 */
export class RequestRemovedError extends storeError(
  "STORE_REQUEST_REMOVED",
  false,
  ({ id }: { id: string }) => `${id} was removed, because its request ended long ago`,
) {}

/**
 * The writes that follow from these entries cannot be done. They stay in the outbox, each under the `writeId`
 * of its entry, until an operator removes them.
 */
export class OutboxStuckError extends storeError(
  "STORE_OUTBOX_STUCK",
  false,
  ({ writeIds }: { writeIds: readonly string[] }) =>
    `The outbox documents ${writeIds.join(", ")} have writes that fail; look at them in MongoDB`,
) {}
