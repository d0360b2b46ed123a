import type { ServerResponse } from "node:http";

/**
 * Closes the connection of a client that reads nothing of its answer for this time: the unread answer uses
 * memory.
 */
export function cutWhenStuck(response: ServerResponse, timeoutMs: number): void {
  // The time starts when the answer is complete: it may take long to create.
  response.once("prefinish", () => response.setTimeout(timeoutMs, () => response.destroy()));
}
