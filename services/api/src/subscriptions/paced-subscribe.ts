import type { ServerResponse } from "node:http";
import { setImmediate, setTimeout } from "node:timers/promises";
import type { ExecutionArgs } from "graphql";
import type { Subscribe } from "./observed-subscribe.ts";
import { resultsIterator } from "./results-iterator.ts";

/** How often an unread response is checked, in milliseconds: no event reports that its buffer is empty. */
const CHECK_EVERY_MS = 25;

/** Options of {@link paceSubscribe}. */
export interface PaceOptions {
  responseOf: (args: ExecutionArgs) => ServerResponse | undefined;
  /** How long a client may read nothing of a result, in milliseconds; then its connection is closed. */
  sendTimeoutMs: number;
}

/**
 * Takes the next result only after the previous one was written to the network: graphql-sse would buffer
 * results without a limit. So a reader that does not read its socket holds one result, and skips states like
 * any slow reader.
 */
export function paceSubscribe(subscribe: Subscribe, { responseOf, sendTimeoutMs }: PaceOptions): Subscribe {
  return async (args) => {
    const results = await subscribe(args);
    const response = responseOf(args);
    if (!(Symbol.asyncIterator in results) || !response) return results;
    return resultsIterator(
      async () => {
        await written(response, sendTimeoutMs);
        return results.next();
      },
      async () => results.return?.(),
    );
  };
}

async function written(response: ServerResponse, timeoutMs: number): Promise<void> {
  // By now the result that was just returned is written.
  await setImmediate();
  if (response.writableLength === 0) return;
  const cut = (): void => void response.destroy();
  // The timeout starts again with each part that the client reads.
  response.setTimeout(timeoutMs).on("timeout", cut);
  while (response.writableLength > 0 && !response.closed) await setTimeout(CHECK_EVERY_MS);
  // No timeout while there is no result to send.
  response.setTimeout(0).off("timeout", cut);
}
