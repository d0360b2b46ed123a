import { costLimitRule } from "@escape.tech/graphql-armor-cost-limit";
import { maxAliasesRule } from "@escape.tech/graphql-armor-max-aliases";
import { maxDepthRule } from "@escape.tech/graphql-armor-max-depth";
import {
  type ArgumentNode,
  type DocumentNode,
  type FieldNode,
  GraphQLError,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  TypeInfo,
  type ValidationContext,
  type ValidationRule,
  type ValueNode,
  validate,
  visit,
  visitWithTypeInfo,
} from "graphql";
import { MAX_PAGE } from "../operation/connection.ts";

/** Limits of one document. */
export const DOCUMENT_LIMITS = {
  /** Lexical tokens; counted during parsing, so that a huge document is refused early. */
  tokens: 2_000,
  /** Nested selections; a fragment is no level of its own. */
  depth: 12,
  aliases: 15,
  /** 2 for each object and 1 for each field, times 1.5 for each level, times the page size. */
  cost: 10_000,
} as const;

/** Every limit except tokens. Introspection is not counted. */
function limitRules(): ValidationRule[] {
  return [
    maxDepthRule({
      n: DOCUMENT_LIMITS.depth,
      flattenFragments: true,
      ...reporting("depth", DOCUMENT_LIMITS.depth),
    }),
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

/** The argument that sets the page size. */
const SIZE = "first";

/**
 * The document with every page size as a number instead of a variable or default, so that a page costs the
 * same in every notation. The same object when nothing changes. Pure.
 * @param document - a valid document
 * @param variables - the variables of the client
 */
function withPageSizes(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  variables: Readonly<Record<string, unknown>>,
): DocumentNode {
  const typeInfo = new TypeInfo(schema);

  function sizeOf(given: ValueNode | undefined, byDefault: unknown): unknown {
    if (given?.kind !== Kind.VARIABLE) return byDefault;
    const name = given.name.value;
    if (Object.hasOwn(variables, name)) return variables[name];
    const declared = operation.variableDefinitions?.find(({ variable }) => variable.name.value === name);
    return declared?.defaultValue?.kind === Kind.INT ? Number(declared.defaultValue.value) : byDefault;
  }

  return visit(
    document,
    visitWithTypeInfo(typeInfo, {
      Field(node: FieldNode) {
        const argument = typeInfo.getFieldDef()?.args.find(({ name }) => name === SIZE);
        if (!argument) return undefined;
        const given = node.arguments?.find(({ name }) => name.value === SIZE)?.value;
        if (given && given.kind !== Kind.VARIABLE) return undefined;
        const size = sizeOf(given, argument.defaultValue);
        // The field itself refuses other values.
        if (typeof size !== "number" || !Number.isInteger(size) || size < 1) return undefined;
        const others = node.arguments?.filter(({ name }) => name.value !== SIZE) ?? [];
        return { ...node, arguments: [...others, sizeArgument(Math.min(size, MAX_PAGE))] };
      },
    }),
  );
}

function sizeArgument(size: number): ArgumentNode {
  return {
    kind: Kind.ARGUMENT,
    name: { kind: Kind.NAME, value: SIZE },
    value: { kind: Kind.INT, value: String(size) },
  };
}
