import { AnswerTooLargeError } from "../errors/input-errors.ts";
import { LIGHT_ANSWER_BYTES } from "../load/answer-bytes.ts";
import type { Grant } from "../load/byte-budget.ts";
import { jsonBytes } from "../load/json-bytes.ts";
import type { GraphqlContext } from "../operation/context.ts";
import type { Subscribe } from "./observed-subscribe.ts";
import { failedResult, resultsIterator } from "./results-iterator.ts";

/**
 * Keeps the results of subscriptions within the limits of answers. A large result waits for a grant of the
 * budget; meanwhile newer states replace the next result. The grant is released when the next result is
 * requested: by then this one was sent.
 */
export function boundSubscribe(subscribe: Subscribe): Subscribe {
  return async (args) => {
    const results = await subscribe(args);
    if (!(Symbol.asyncIterator in results)) return results;
    const { bytes, tenant } = args.contextValue as GraphqlContext;
    const { maxBytes, budget } = bytes.limits;
    const disconnected = new AbortController();
    let grant: Grant | undefined;
    const releaseGrant = (): void => {
      grant?.release();
      grant = undefined;
    };

    return resultsIterator(
      async () => {
        releaseGrant();
        const next = await results.next();
        if (next.done) return next;
        const sizeBytes = jsonBytes(next.value, maxBytes);
        if (sizeBytes > maxBytes)
          return { done: false, value: failedResult(new AnswerTooLargeError(maxBytes)) };
        if (sizeBytes > LIGHT_ANSWER_BYTES) {
          const request = { tenant, bytes: sizeBytes, hasNoTimeout: true, signal: disconnected.signal };
          grant = await budget.acquire(request);
          if (disconnected.signal.aborted) releaseGrant();
        }
        return next;
      },
      async () => {
        disconnected.abort();
        releaseGrant();
        await results.return?.();
      },
    );
  };
}
