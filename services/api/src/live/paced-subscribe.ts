import type { ServerResponse } from "node:http";
import { setImmediate, setTimeout } from "node:timers/promises";
import type { ExecutionArgs, ExecutionResult } from "graphql";
import type { Subscribe } from "./observed-subscribe.ts";

/** How often a response is looked at that its reader does not read, in milliseconds: no event tells that it holds nothing any more. */
const LOOK_EVERY_MS = 25;

/**
 * Takes the next result only once the one before has left for the network: what graphql-sse is given it keeps until it can be written, however
 * much that is. So a reader who does not read its socket holds one result here, and skips states like any slow reader.
 */
export function paceSubscribe(
  subscribe: Subscribe,
  responseOf: (args: ExecutionArgs) => ServerResponse | undefined,
): Subscribe {
  return async (args) => {
    const results = await subscribe(args);
    const response = responseOf(args);
    if (!(Symbol.asyncIterator in results) || !response) return results;
    const paced: AsyncIterableIterator<ExecutionResult> = {
      async next() {
        await hasLeft(response);
        return results.next();
      },
      async return() {
        await results.return?.();
        return { done: true, value: undefined };
      },
      [Symbol.asyncIterator]: () => paced,
    };
    return paced;
  };
}

async function hasLeft(response: ServerResponse): Promise<void> {
  // What was given a moment ago is written by then.
  await setImmediate();
  while (response.writableLength > 0 && !response.closed) await setTimeout(LOOK_EVERY_MS);
}
