import type { ServerResponse } from "node:http";

/** Cuts the connection of a client that reads nothing of its answer for so long: what waits for it is held in memory. */
export function cutWhenStuck(response: ServerResponse, timeoutMs: number): void {
  // From the end on: an answer may take long until there is anything to read.
  response.once("prefinish", () => response.setTimeout(timeoutMs, () => response.destroy()));
}
