import type { ApolloServerPlugin } from "@apollo/server";
import type { GraphQLSchema } from "graphql";
import { isApiErrorCode } from "../errors/error-codes.ts";
import type { GraphqlContext } from "../operation/context.ts";
import { noteLogFacts } from "../telemetry/api-logger.ts";
import { incomingTrace } from "../telemetry/incoming-trace.ts";
import { operationSpan } from "./operation-span.ts";

/**
 * Starts a span for every operation, as a child of the header `traceparent`, and adds the requestId to the
 * log lines of its errors.
 */
export function createOperationPlugin(schema: GraphQLSchema): ApolloServerPlugin<GraphqlContext> {
  return {
    async unexpectedErrorProcessingRequest({ requestContext }) {
      requestContext.contextValue.operation.ended("INTERNAL");
    },
    async requestDidStart() {
      return {
        async didResolveOperation({ operation, request, contextValue }) {
          if (!operation) return;
          const parent = incomingTrace((name) => request.http?.headers.get(name));
          contextValue.operation.begin(operationSpan(operation, { schema, parent }));
        },
        async didEncounterErrors({ errors, contextValue }) {
          for (const error of errors) noteLogFacts(error, contextValue.operation.logFacts());
        },
        async willSendResponse({ contextValue, response: { body } }) {
          const error = body.kind === "single" ? body.singleResult.errors?.[0] : undefined;
          const code = error?.extensions?.["code"];
          contextValue.operation.ended(error ? (isApiErrorCode(code) ? code : "INTERNAL") : null);
        },
      };
    },
  };
}
