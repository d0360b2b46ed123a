import { type ExecutionResult, GraphQLError } from "graphql";
import type { ApiError } from "../errors/api-error.ts";

/** The results of a subscription. */
export type Results = AsyncIterableIterator<ExecutionResult>;

/**
 * An iterator made of functions. Not a generator: a generator that waits for its next result is not notified
 * when its reader leaves. It has all methods of a generator, because graphql-sse does not end an iterator
 * without `throw`.
 *
 * @param leave - called when the reader leaves
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

/** One of our errors, wrapped as graphql-js expects it. */
export function toGraphqlError(error: Error): GraphQLError {
  return new GraphQLError(error.message, { originalError: error });
}

/** A result that contains only an error. */
export function failedResult(error: ApiError): ExecutionResult {
  return { data: null, errors: [toGraphqlError(error)] };
}
