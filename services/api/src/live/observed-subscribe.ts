import type { IncomingHttpHeaders } from "node:http";
import { type ExecutionArgs, type ExecutionResult, type GraphQLError, getOperationAST } from "graphql";
import type { GraphqlContext } from "../graphql/context.ts";
import { answeredCode } from "../graphql/format-error.ts";
import { noteLogFacts } from "../graphql/log-facts.ts";
import { operationSpan } from "../graphql/operation-span.ts";
import { incomingTrace } from "../tracing/incoming-trace.ts";

/** As graphql-js has it. */
export type Subscribe = (
  args: ExecutionArgs,
) => Promise<AsyncIterableIterator<ExecutionResult> | ExecutionResult>;

/** Begins the span of a subscription, as a child of what the headers of its caller name. */
export function beginSubscription(
  { operation }: Pick<GraphqlContext, "operation">,
  { schema, document, operationName }: ExecutionArgs,
  headers: IncomingHttpHeaders,
): void {
  const asked = getOperationAST(document, operationName);
  if (asked)
    operation.begin(operationSpan(asked, { schema, parent: incomingTrace((name) => headers[name]) }));
}

/**
 * Ends the span of each subscription when it is over or its reader has gone, and gives the log lines about its errors the request that
 * they are about. What it subscribes with has a {@link GraphqlContext}.
 */
export function observeSubscribe(subscribe: Subscribe): Subscribe {
  return async (args) => {
    const { operation } = args.contextValue as GraphqlContext;
    const note = (errors: readonly GraphQLError[] = []): void => {
      for (const error of errors) noteLogFacts(error, operation.logFacts());
    };
    const results = await subscribe(args);
    if (!(Symbol.asyncIterator in results)) {
      note(results.errors);
      const [error] = results.errors ?? [];
      operation.ended(error ? answeredCode(error) : null);
      return results;
    }
    const observed: AsyncIterableIterator<ExecutionResult> = {
      async next() {
        try {
          const result = await results.next();
          if (result.done) operation.ended();
          else note(result.value.errors);
          return result;
        } catch (error) {
          noteLogFacts(error, operation.logFacts());
          operation.ended("INTERNAL");
          throw error;
        }
      },
      async return() {
        operation.ended();
        await results.return?.();
        return { done: true, value: undefined };
      },
      [Symbol.asyncIterator]: () => observed,
    };
    return observed;
  };
}
