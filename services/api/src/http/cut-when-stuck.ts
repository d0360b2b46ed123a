import type { ServerResponse } from "node:http";

/**
 * Slowest average speed at which an answer may be read, in bytes a millisecond. A client that reads a little from
 * time to time would otherwise hold memory without end.
 */
const MIN_BYTES_PER_MS = 128;

/**
 * Closes the connection of a client that reads nothing of its answer for this time, or too slowly: the unread
 * answer uses memory.
 */
export function cutWhenStuck(response: ServerResponse, timeoutMs: number): void {
  // The time starts when the answer is complete: it may take long to create.
  response.once("prefinish", () =>
    cutWhenSlow(response, { timeoutMs, sizeBytes: Number(response.getHeader("content-length") ?? 0) }),
  );
}

/**
 * The same from now on, for an answer that is streamed: it ends after `timeoutMs` without progress, and after
 * `timeoutMs` and a millisecond for each 128 bytes in any case.
 */
export function cutWhenSlow(
  response: ServerResponse,
  { timeoutMs, sizeBytes }: { timeoutMs: number; sizeBytes: number },
): void {
  const cut = () => void response.destroy();
  const timer = setTimeout(cut, timeoutMs + sizeBytes / MIN_BYTES_PER_MS);
  response.setTimeout(timeoutMs, cut);
  response.once("close", () => clearTimeout(timer));
}
