import type { ServerResponse } from "node:http";
import { setImmediate, setTimeout } from "node:timers/promises";
import type { ExecutionArgs } from "graphql";
import type { Subscribe } from "./observed-subscribe.ts";
import { resultsIterator } from "./results-iterator.ts";

/** How often a response is looked at that its reader does not read, in milliseconds: no event tells that it holds nothing any more. */
const LOOK_EVERY_MS = 25;

/** What results go out by, and how long. */
export interface PaceOptions {
  responseOf: (args: ExecutionArgs) => ServerResponse | undefined;
  /** Longest that a client may read nothing of a result, in milliseconds; then its connection is cut. */
  sendTimeoutMs: number;
}

/**
 * Takes the next result only once the one before has left for the network: what graphql-sse is given it keeps until it can be written, however
 * much that is. So a reader who does not read its socket holds one result here, and skips states like any slow reader.
 */
export function paceSubscribe(subscribe: Subscribe, { responseOf, sendTimeoutMs }: PaceOptions): Subscribe {
  return async (args) => {
    const results = await subscribe(args);
    const response = responseOf(args);
    if (!(Symbol.asyncIterator in results) || !response) return results;
    return resultsIterator(
      async () => {
        await hasLeft(response, sendTimeoutMs);
        return results.next();
      },
      async () => results.return?.(),
    );
  };
}

async function hasLeft(response: ServerResponse, timeoutMs: number): Promise<void> {
  // What was given a moment ago is written by then.
  await setImmediate();
  if (response.writableLength === 0) return;
  const cut = (): void => void response.destroy();
  // The time begins anew with each part that is read.
  response.setTimeout(timeoutMs).on("timeout", cut);
  while (response.writableLength > 0 && !response.closed) await setTimeout(LOOK_EVERY_MS);
  // Until there is another result nothing need be read.
  response.setTimeout(0).off("timeout", cut);
}
