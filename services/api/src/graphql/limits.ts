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

/** What one document may ask for. */
export const DOCUMENT_LIMITS = {
  /** Lexical tokens; counted while parsing, so that a huge document is given up early. */
  tokens: 2_000,
  /** Nested selections. */
  depth: 12,
  aliases: 15,
  /** 2 for each object and 1 for each field, half as much again for each level, times the size of the page, however it is given. */
  cost: 10_000,
} as const;

/** Every limit but the tokens. Introspection is not counted. */
function limitRules(): ValidationRule[] {
  return [
    maxDepthRule({ n: DOCUMENT_LIMITS.depth, ...reporting("depth", DOCUMENT_LIMITS.depth) }),
    maxAliasesRule({ n: DOCUMENT_LIMITS.aliases, ...reporting("aliases", DOCUMENT_LIMITS.aliases) }),
    costRule(),
  ];
}

function costRule(): ValidationRule {
  return costLimitRule({ maxCost: DOCUMENT_LIMITS.cost, ...reporting("cost", DOCUMENT_LIMITS.cost) });
}

/**
 * Measures the cost of a valid document once more, with the pages whose sizes its text does not hold: variables are known only when it is
 * to run. Undefined when it is within the limit.
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

/** In the place of a document that must not be shown. */
const NOTHING: DocumentNode = { kind: Kind.DOCUMENT, definitions: [] };

/**
 * Refuses documents beyond a limit before they are validated: a rule for the same visit as those of GraphQL, which it leads past a document
 * that is refused. So hostile documents cost what measuring them costs, and their answer names the limit alone.
 */
export const limitsFirst: ValidationRule = (context) => ({
  Document(document) {
    const found = validate(context.getSchema(), document, limitRules());
    for (const error of found) context.reportError(error);
    // What a visitor returns on entering stands in the place of the node, for all visitors.
    return found.length > 0 ? NOTHING : undefined;
  },
});

/** Reported, not thrown: thrown errors of these rules would be answered with status 500. */
function reporting(limit: string, max: number) {
  const report = (context: ValidationContext | null): void => {
    const message = `The document exceeds the limit for ${limit}, which is ${max}`;
    context?.reportError(new GraphQLError(message, { extensions: { limit, max } }));
  };
  return { propagateOnRejection: false, onReject: [report] };
}

/** Over HTTP one answer follows a question: subscriptions have ways of their own. */
export const noSubscriptions: ValidationRule = (context) => ({
  OperationDefinition(node) {
    if (node.operation !== "subscription") return;
    const message =
      "Subscriptions are not supported here: send them over WebSocket to /graphql, or to /graphql/stream for server-sent events";
    context.reportError(new GraphQLError(message, { nodes: node }));
  },
});
