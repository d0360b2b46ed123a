import type { ApolloServerPlugin } from "@apollo/server";
import type { GraphQLSchema } from "graphql";
import { isApiErrorCode } from "../errors/error-codes.ts";
import type { GraphqlContext } from "../operation/context.ts";
import type { ApiMetrics } from "../telemetry/api-metrics.ts";
import { operationField } from "./operation-field.ts";

/** Counts every operation by its field of the schema and by its final code. */
export function createMetricsPlugin(
  metrics: ApiMetrics,
  schema: GraphQLSchema,
): ApolloServerPlugin<GraphqlContext> {
  return {
    async requestDidStart() {
      const startedAt = performance.now();
      let isValid = false;
      return {
        async didResolveOperation() {
          isValid = true;
        },
        async willSendResponse({ operation, response: { body } }) {
          const error = body.kind === "single" ? body.singleResult.errors?.[0] : undefined;
          const code = error?.extensions?.["code"];
          const name = isValid && operation ? operationField(operation, schema) : "invalid";
          const end = error ? (isApiErrorCode(code) ? code : "INTERNAL") : "OK";
          metrics.answered(name, end, performance.now() - startedAt);
        },
      };
    },
  };
}
