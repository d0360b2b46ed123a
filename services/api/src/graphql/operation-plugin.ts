import type { ApolloServerPlugin } from "@apollo/server";
import { SpanKind } from "@planwright/runtime";
import type { GraphQLSchema } from "graphql";
import { isApiErrorCode } from "../errors.ts";
import { incomingTrace } from "../tracing/incoming-trace.ts";
import type { GraphqlContext } from "./context.ts";
import { noteLogFacts } from "./log-facts.ts";
import { operationField } from "./operation-field.ts";

/** Longest name of an operation that is passed on, in UTF-16 units. */
const MAX_NAME = 100;

/**
 * Gives every operation its span, as a child of what the header `traceparent` names, and the log lines about its errors the request that
 * they are about. Of the document only the names of the operation and of its field are told.
 */
export function createOperationPlugin(schema: GraphQLSchema): ApolloServerPlugin<GraphqlContext> {
  return {
    async unexpectedErrorProcessingRequest({ requestContext }) {
      requestContext.contextValue.operation.ended("INTERNAL");
    },
    async requestDidStart() {
      return {
        async didResolveOperation({ operation, operationName, request, contextValue }) {
          if (!operation) return;
          contextValue.operation.begin({
            name: `${operation.operation} ${operationField(operation, schema)}`,
            kind: SpanKind.SERVER,
            parent: incomingTrace((name) => request.http?.headers.get(name)),
            attributes: {
              "graphql.operation.type": operation.operation,
              ...(operationName ? { "graphql.operation.name": operationName.slice(0, MAX_NAME) } : {}),
            },
          });
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
