import {
  type DocumentNode,
  type ExecutionArgs,
  GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  NoSchemaIntrospectionCustomRule,
  parse,
  specifiedRules,
  validate,
} from "graphql";
import { LRUCache } from "lru-cache";
import { type Caller, requireScope } from "../access/caller.ts";
import { ForbiddenError } from "../errors/access-errors.ts";
import { answeredCode } from "../errors/format-error.ts";
import { costError, DOCUMENT_LIMITS, limitsFirst } from "../graphql/limits.ts";
import { operationField } from "../graphql/operation-field.ts";
import { requiredScopes } from "../graphql/required-scopes.ts";
import type { ApiMetrics } from "../telemetry/api-metrics.ts";
import { toGraphqlError } from "./results-iterator.ts";

/** The parameters of a client. */
export interface SubscriptionParams {
  query: string;
  variables?: Record<string, unknown> | null | undefined;
  operationName?: string | null | undefined;
}

/** Limits of the cache of valid documents: many clients with the same document need only one check. */
const REMEMBERED = { max: 100, maxLength: 10_000 } as const;

/** Dependencies of {@link createSubscriptionCheck}. */
export interface SubscriptionCheckDependencies {
  schema: GraphQLSchema;
  introspection: boolean;
  /** Counts refusals. */
  metrics: Pick<ApiMetrics, "subscriptionEnded">;
}

/** Checks documents that do not pass through Apollo: the same limits, and the scopes of their caller. */
export function createSubscriptionCheck({ schema, introspection, metrics }: SubscriptionCheckDependencies) {
  const rules = [limitsFirst, ...specifiedRules, ...(introspection ? [] : [NoSchemaIntrospectionCustomRule])];
  const valid = new LRUCache<string, DocumentNode>({ max: REMEMBERED.max });

  /**
   * The document (the same object for the same text), or its errors.
   * @throws {GraphQLError} when it cannot be parsed
   */
  function read(query: string): DocumentNode | readonly GraphQLError[] {
    const known = valid.get(query);
    if (known) return known;
    const document = parse(query, { maxTokens: DOCUMENT_LIMITS.tokens });
    const found = validate(schema, document, rules);
    if (found.length > 0) return found.map((error) => withCode(error, "GRAPHQL_VALIDATION_FAILED"));
    if (query.length <= REMEMBERED.maxLength) valid.set(query, document);
    return document;
  }

  return (params: SubscriptionParams, caller: Caller): ExecutionArgs | readonly GraphQLError[] => {
    let selected = "invalid";
    const refused = (errors: readonly GraphQLError[]): readonly GraphQLError[] => {
      metrics.subscriptionEnded(selected, answeredCode(errors[0]));
      return errors;
    };
    try {
      const document = read(params.query);
      if (!("kind" in document)) return refused(document);
      const operation = getOperationAST(document, params.operationName);
      if (!operation) {
        const message = "The document has several operations, or none with the given name";
        return refused([new GraphQLError(message, { extensions: { code: "OPERATION_RESOLUTION_FAILURE" } })]);
      }
      if (operation.operation !== "subscription") {
        const message =
          "Only subscriptions are supported here: send queries and mutations by POST to /graphql";
        return refused([new GraphQLError(message, { extensions: { code: "BAD_REQUEST" } })]);
      }
      selected = operationField(operation, schema);
      for (const scope of requiredScopes(document, operation)) requireScope(caller, scope);
      const { variables: variableValues, operationName } = params;
      const tooExpensive = costError(schema, document, operation, variableValues ?? {});
      if (tooExpensive) return refused([tooExpensive]);
      return { schema, document, variableValues, operationName };
    } catch (error) {
      if (error instanceof ForbiddenError) {
        return refused([toGraphqlError(error)]);
      }
      if (!(error instanceof GraphQLError)) throw error;
      return refused([withCode(error, "GRAPHQL_PARSE_FAILED")]);
    }
  };
}

/** Adds the code that Apollo would add. */
function withCode(error: GraphQLError, code: string): GraphQLError {
  return Object.assign(error, { extensions: { code, ...error.extensions } });
}
