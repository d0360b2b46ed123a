import { costLimitRule } from "@escape.tech/graphql-armor-cost-limit";
import { maxAliasesRule } from "@escape.tech/graphql-armor-max-aliases";
import { maxDepthRule } from "@escape.tech/graphql-armor-max-depth";
import { GraphQLError, type ValidationContext, type ValidationRule } from "graphql";

/** What one document may ask for. */
export const DOCUMENT_LIMITS = {
  /** Lexical tokens; counted while parsing, so that a huge document is given up early. */
  tokens: 2_000,
  /** Nested selections. */
  depth: 12,
  aliases: 15,
  /** 2 for each object and 1 for each field, half as much again for each level, times the size of the page. */
  cost: 10_000,
} as const;

/** Validation rules beside those of GraphQL: every limit but the tokens. Introspection is not counted. */
export function limitRules(): ValidationRule[] {
  return [
    knownOperationTypes,
    maxDepthRule({ n: DOCUMENT_LIMITS.depth, ...reporting("depth", DOCUMENT_LIMITS.depth) }),
    maxAliasesRule({ n: DOCUMENT_LIMITS.aliases, ...reporting("aliases", DOCUMENT_LIMITS.aliases) }),
    costLimitRule({ maxCost: DOCUMENT_LIMITS.cost, ...reporting("cost", DOCUMENT_LIMITS.cost) }),
  ];
}

/** Reported, not thrown: thrown errors of these rules would be answered with status 500. */
function reporting(limit: string, max: number) {
  const report = (context: ValidationContext | null): void => {
    const message = `The document exceeds the limit for ${limit}, which is ${max}`;
    context?.reportError(new GraphQLError(message, { extensions: { limit, max } }));
  };
  return { propagateOnRejection: false, onReject: [report] };
}

/** Refuses operations that the schema has no type for; GraphQL itself finds them only when it executes. */
const knownOperationTypes: ValidationRule = (context) => ({
  OperationDefinition(node) {
    if (context.getSchema().getRootType(node.operation)) return;
    context.reportError(new GraphQLError(`There is no ${node.operation} in the schema`, { nodes: node }));
  },
});
