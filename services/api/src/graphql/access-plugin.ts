import type { ApolloServerPlugin } from "@apollo/server";
import { requireScope } from "../access/caller.ts";
import { ForbiddenError } from "../errors/access-errors.ts";
import type { GraphqlContext } from "../operation/context.ts";
import { refusalOf } from "./refusal.ts";
import { requiredScopes } from "./required-scopes.ts";

/** Refuses operations for which the caller lacks a scope, with status 403, before any part of them runs. */
export function createAccessPlugin(): ApolloServerPlugin<GraphqlContext> {
  return {
    async requestDidStart() {
      return {
        async didResolveOperation({ document, operation, contextValue }) {
          if (!operation) return;
          try {
            for (const scope of requiredScopes(document, operation)) requireScope(contextValue.caller, scope);
          } catch (error) {
            throw error instanceof ForbiddenError ? refusalOf(error) : error;
          }
        },
      };
    },
  };
}
