import type { ExecutionResult } from "graphql";

/** What a subscription gives, one after the other. */
export type Results = AsyncIterableIterator<ExecutionResult>;

/**
 * Results by functions. Not a generator: one that waits for its next result does not hear that its reader has gone. It has all that a generator
 * has: graphql-sse tells nothing to one without `throw`.
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
    async throw(error) {
      await leave();
      throw error;
    },
    [Symbol.asyncIterator]: () => results,
  };
  return results;
}
