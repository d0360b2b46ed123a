import type { ApolloServerPlugin } from "@apollo/server";
import { GraphQLError, type GraphQLSchema } from "graphql";
import type { GraphqlContext } from "../operation/context.ts";
import { costError } from "./limits.ts";

/**
 * Refuses operations whose page sizes make them too expensive, with status 400, before any part of them runs.
 */
export function createCostPlugin(schema: GraphQLSchema): ApolloServerPlugin<GraphqlContext> {
  return {
    async requestDidStart() {
      return {
        async didResolveOperation({ document, operation, request }) {
          const error = operation && costError(schema, document, operation, request.variables ?? {});
          if (!error) return;
          const { message, extensions } = error;
          throw new GraphQLError(message, { extensions: { ...extensions, http: { status: 400 } } });
        },
      };
    },
  };
}
