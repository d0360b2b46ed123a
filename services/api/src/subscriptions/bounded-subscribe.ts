import { AnswerTooLargeError } from "../errors/input-errors.ts";
import { LIGHT_ANSWER_BYTES } from "../load/answer-bytes.ts";
import type { Grant } from "../load/byte-budget.ts";
import { jsonBytes } from "../load/json-bytes.ts";
import type { GraphqlContext } from "../operation/context.ts";
import type { Subscribe } from "./observed-subscribe.ts";
import { failedResult, resultsIterator } from "./results-iterator.ts";

/**
 * Keeps the results of subscriptions within the limits of answers. A large result waits for a grant of the
 * budget, while newer states replace the next one. The grant is released when the next result is requested:
 * then this one was sent.
 */
export function boundSubscribe(subscribe: Subscribe): Subscribe {
  return async (args) => {
    const results = await subscribe(args);
    if (!(Symbol.asyncIterator in results)) return results;
    const { bytes, tenant } = args.contextValue as GraphqlContext;
    const { maxBytes, budget } = bytes.limits;
    const gone = new AbortController();
    let grant: Grant | undefined;
    const giveBack = (): void => {
      grant?.release();
      grant = undefined;
    };

    return resultsIterator(
      async () => {
        giveBack();
        const next = await results.next();
        if (next.done) return next;
        const sizeBytes = jsonBytes(next.value, maxBytes);
        if (sizeBytes > maxBytes)
          return { done: false, value: failedResult(new AnswerTooLargeError(maxBytes)) };
        if (sizeBytes > LIGHT_ANSWER_BYTES) {
          const request = { tenant, bytes: sizeBytes, hasNoTimeout: true, signal: gone.signal };
          grant = await budget.acquire(request);
          if (gone.signal.aborted) giveBack();
        }
        return next;
      },
      async () => {
        gone.abort();
        giveBack();
        await results.return?.();
      },
    );
  };
}
