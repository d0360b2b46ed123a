import type { IncomingHttpHeaders } from "node:http";
import { type ExecutionArgs, type ExecutionResult, getOperationAST } from "graphql";
import { answeredCode } from "../errors/format-error.ts";
import { operationField } from "../graphql/operation-field.ts";
import { operationSpan } from "../graphql/operation-span.ts";
import type { GraphqlContext } from "../operation/context.ts";
import { noteLogFacts } from "../telemetry/api-logger.ts";
import type { ApiMetrics } from "../telemetry/api-metrics.ts";
import { incomingTrace } from "../telemetry/incoming-trace.ts";
import { type Results, resultsIterator } from "./results-iterator.ts";

/** The type of `subscribe` in graphql-js. */
export type Subscribe = (args: ExecutionArgs) => Promise<Results | ExecutionResult>;

/** Starts the span of a subscription, as a child of the trace in the headers of its caller. */
export function beginSubscription(
  { operation }: Pick<GraphqlContext, "operation">,
  { schema, document, operationName }: ExecutionArgs,
  headers: IncomingHttpHeaders,
): void {
  const selected = getOperationAST(document, operationName);
  if (selected)
    operation.begin(operationSpan(selected, { schema, parent: incomingTrace((name) => headers[name]) }));
}

/**
 * Ends the span of each subscription at its end or when its reader leaves, counts it by its field and the
 * code of its first error, and adds the requestId to the log lines of its errors. The context value is a
 * {@link GraphqlContext}.
 */
export function observeSubscribe(
  subscribe: Subscribe,
  metrics: Pick<ApiMetrics, "subscriptionEnded">,
): Subscribe {
  return async (args) => {
    const { operation } = args.contextValue as GraphqlContext;
    const selected = getOperationAST(args.document, args.operationName);
    let code: string | undefined;
    let hasEnded = false;
    const note = (errors: readonly unknown[] = []): void => {
      for (const error of errors) {
        noteLogFacts(error, operation.logFacts());
        code ??= answeredCode(error);
      }
    };
    const end = (): void => {
      if (hasEnded) return;
      hasEnded = true;
      operation.ended(code ?? null);
      metrics.subscriptionEnded(selected ? operationField(selected, args.schema) : "invalid", code ?? "OK");
    };
    const results = await subscribe(args);
    if (!(Symbol.asyncIterator in results)) {
      note(results.errors);
      end();
      return results;
    }
    return resultsIterator(
      async () => {
        try {
          const result = await results.next();
          if (result.done) end();
          else note(result.value.errors);
          return result;
        } catch (error) {
          note([error]);
          end();
          throw error;
        }
      },
      async () => {
        end();
        await results.return?.();
      },
    );
  };
}
