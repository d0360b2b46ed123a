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
 * A change of a request could not be written: its document does not say yet what its journal says, because its
 * owner is writing it now or has died. A later try succeeds.
 */
export class RequestLagsError extends storeError(
  "STORE_REQUEST_LAGS",
  true,
  ({ requestId }: { requestId: string }) => `Request ${requestId} lags behind its journal`,
) {}
