import type { ExecutionResult } from "graphql";

/** What a subscription gives, one after the other. */
export type Results = AsyncIterableIterator<ExecutionResult>;

/**
 * Results by functions. Not a generator: one that waits for its next result does not hear that its reader has gone.
 *
 * @param leave - the reader has gone
 */
export function resultsIterator(next: Results["next"], leave: () => Promise<unknown>): Results {
  const results: Results = {
    next,
    async return() {
      await leave();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]: () => results,
  };
  return results;
}
