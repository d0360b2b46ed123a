import { type ExecutionResult, GraphQLError } from "graphql";
import type { ApiError } from "../errors/api-errors.ts";

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

/** An error of ours in the form in which graphql-js carries it. */
export function toGraphqlError(error: Error): GraphQLError {
  return new GraphQLError(error.message, { originalError: error });
}

/** A result that is an error and nothing else. */
export function failedResult(error: ApiError): ExecutionResult {
  return { data: null, errors: [toGraphqlError(error)] };
}
