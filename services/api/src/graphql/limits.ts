import { costLimitRule } from "@escape.tech/graphql-armor-cost-limit";
import { maxAliasesRule } from "@escape.tech/graphql-armor-max-aliases";
import { maxDepthRule } from "@escape.tech/graphql-armor-max-depth";
import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  type ValidationContext,
  type ValidationRule,
  validate,
} from "graphql";
import { withPageSizes } from "./page-sizes.ts";

/** Limits of one document. */
export const DOCUMENT_LIMITS = {
  /** Lexical tokens; counted during parsing, so that a huge document is refused early. */
  tokens: 2_000,
  /** Nested selections. */
  depth: 12,
  aliases: 15,
  /** 2 for each object and 1 for each field, times 1.5 for each level, times the page size. */
  cost: 10_000,
} as const;

/** Every limit except tokens. Introspection is not counted. */
function limitRules(): ValidationRule[] {
  return [
    maxDepthRule({ n: DOCUMENT_LIMITS.depth, ...reporting("depth", DOCUMENT_LIMITS.depth) }),
    maxAliasesRule({ n: DOCUMENT_LIMITS.aliases, ...reporting("aliases", DOCUMENT_LIMITS.aliases) }),
    costRule(),
  ];
}

/** A fragment costs as much as its fields, because the same data is read. */
function costRule(): ValidationRule {
  return costLimitRule({
    maxCost: DOCUMENT_LIMITS.cost,
    flattenFragments: true,
    ...reporting("cost", DOCUMENT_LIMITS.cost),
  });
}

/**
 * Measures the cost of a valid document again with page sizes from variables, which are known only at
 * execution. Undefined when it is within the limit.
 */
export function costError(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  variables: Readonly<Record<string, unknown>>,
): GraphQLError | undefined {
  const sized = withPageSizes(schema, document, operation, variables);
  return sized === document ? undefined : validate(schema, sized, [costRule()])[0];
}

/** Replaces a refused document in the visitor. */
const NOTHING: DocumentNode = { kind: Kind.DOCUMENT, definitions: [] };

/**
 * Refuses documents above a limit before they are validated. The rule runs in the same visit as those of
 * GraphQL and hides a refused document from them. So a hostile document costs only its measurement, and its
 * answer names only the limit.
 */
export const limitsFirst: ValidationRule = (context) => ({
  Document(document) {
    const found = validate(context.getSchema(), document, limitRules());
    for (const error of found) context.reportError(error);
    // The returned node replaces the document for all rules of the visit.
    return found.length > 0 ? NOTHING : undefined;
  },
});

/** Reports errors instead of throwing: thrown errors of these rules would give status 500. */
function reporting(limit: string, max: number) {
  const report = (context: ValidationContext | null): void => {
    const message = `The document exceeds the limit for ${limit}, which is ${max}`;
    context?.reportError(new GraphQLError(message, { extensions: { limit, max } }));
  };
  return { propagateOnRejection: false, onReject: [report] };
}

/** A plain HTTP request has one answer: subscriptions use other protocols. */
export const noSubscriptions: ValidationRule = (context) => ({
  OperationDefinition(node) {
    if (node.operation !== "subscription") return;
    const message =
      "A subscription is not supported here: send it over WebSocket to /graphql, or to /graphql/stream for server-sent events";
    context.reportError(new GraphQLError(message, { nodes: node }));
  },
});
