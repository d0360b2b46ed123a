import { costLimitRule } from "@escape.tech/graphql-armor-cost-limit";
import { maxAliasesRule } from "@escape.tech/graphql-armor-max-aliases";
import { maxDepthRule } from "@escape.tech/graphql-armor-max-depth";
import { SpanKind, type TraceOrigin } from "@planwright/runtime";
import {
  type ArgumentNode,
  type DocumentNode,
  type FieldNode,
  GraphQLError,
  type GraphQLFormattedError,
  type GraphQLSchema,
  Kind,
  NoSchemaIntrospectionCustomRule,
  type OperationDefinitionNode,
  TypeInfo,
  type ValidationContext,
  type ValidationRule,
  type ValueNode,
  validate,
  visit,
  visitWithTypeInfo,
} from "graphql";
import { requireScope } from "../access/gate.ts";
import { isApiErrorCode } from "../errors/api-error.ts";
import type { FormatError } from "../errors/format-error.ts";
import { incomingTrace } from "../errors/telemetry.ts";
import type { Admission } from "../load/admission.ts";
import { MAX_PAGE } from "../operation/connection.ts";
import type { GraphqlContext } from "../operation/context.ts";
import { type OperationNeeds, operationNeeds, selectsLargeFields } from "./operations.ts";

/** What is known of an operation whatever its variables are. */
interface OperationFacts {
  /** As in {@link operationField}. */
  field: string;
  needs: OperationNeeds;
  /** A page size may change with the variables, and with it the cost. */
  hasOpenSizes: boolean;
}

/** Dependencies of {@link createPipeline}. */
interface PipelineDependencies {
  schema: GraphQLSchema;
  /** Whether clients may read the schema. */
  introspection: boolean;
  formatError: FormatError;
  admission: Admission;
}

/** An operation of a valid document. */
interface SelectedOperation {
  document: DocumentNode;
  operation: OperationDefinitionNode;
  variables: Readonly<Record<string, unknown>> | null | undefined;
  /** Reads a header of the client, for its trace. */
  readHeader: (name: keyof TraceOrigin) => unknown;
}

/** The way of every GraphQL operation, whatever transport brings it, and of every tool call of MCP. */
export type Pipeline = ReturnType<typeof createPipeline>;

/** One pipeline for all transports: they only read operations and write answers. */
export function createPipeline({ schema, introspection, formatError, admission }: PipelineDependencies) {
  /** Clients repeat their operations, and Apollo keeps the documents of those that it has parsed and validated. */
  const known = new WeakMap<OperationDefinitionNode, OperationFacts>();

  function factsOf(document: DocumentNode, operation: OperationDefinitionNode): OperationFacts {
    const found = known.get(operation);
    if (found) return found;
    const facts = {
      field: operationField(operation, schema),
      needs: operationNeeds(document, operation),
      hasOpenSizes: hasOpenSizes(schema, document),
    };
    known.set(operation, facts);
    return facts;
  }

  /**
   * Refuses an operation that its caller may not start, and takes what it needs to run: memory for a large
   * answer, a slot, and the place of a new plan. `context.releaseSlot` gives the slot back. A subscription
   * takes its place when it begins to follow.
   * @param isLarge - whether it selects large fields; only asked for lists
   * @throws {ForbiddenError | OverloadedError}
   */
  async function admit(
    context: GraphqlContext,
    { type, scopes, makesPlan, isList }: OperationNeeds,
    isLarge: () => boolean = () => false,
  ): Promise<void> {
    for (const scope of scopes) requireScope(context.caller, scope);
    switch (type) {
      case "query":
        // Before the slot: what waits for memory keeps no other query from running.
        if (isList && isLarge()) await context.bytes.claim();
        context.releaseSlot = await admission.enterQuery(context);
        return;
      case "mutation":
        // It cannot be refused when it has taken effect.
        context.bytes.waitWithoutTimeout();
        context.releaseSlot = admission.enter();
        context.reservePlan = () => admission.reserve(context.tenant);
        if (makesPlan) await context.reservePlan();
        return;
      case "subscription":
    }
  }

  return {
    schema,
    formatError,
    /** The rules for documents besides those of GraphQL. */
    rules: [limitsFirst, ...(introspection ? [] : [NoSchemaIntrospectionCustomRule])] as ValidationRule[],
    admit,

    /**
     * Starts the span of an operation and makes every check of it. {@link end} must follow, also after an error.
     * @throws {ForbiddenError | OverloadedError} or the GraphQLError of a limit: no part of the operation ran
     */
    async begin(
      context: GraphqlContext,
      { document, operation, variables, readHeader }: SelectedOperation,
    ): Promise<void> {
      const { field, needs, hasOpenSizes } = factsOf(document, operation);
      const name = operation.name?.value;
      context.operation.begin(field, {
        name: `${operation.operation} ${field}`,
        kind: SpanKind.SERVER,
        parent: incomingTrace(readHeader),
        attributes: {
          "graphql.operation.type": operation.operation,
          ...(name ? { "graphql.operation.name": name.slice(0, MAX_NAME) } : {}),
        },
      });
      const tooExpensive = hasOpenSizes && costError(schema, document, operation, variables ?? {});
      if (tooExpensive) throw tooExpensive;
      await admit(context, needs, () => selectsLargeFields(schema, document));
    },

    /** Ends the span, counts the operation by its field and by the code of its first error, and frees its slot. */
    end(
      { operation, releaseSlot }: GraphqlContext,
      errors: readonly Pick<GraphQLFormattedError, "extensions">[] = [],
    ): void {
      const code = errors[0]?.extensions?.["code"];
      operation.ended(errors.length === 0 ? null : isApiErrorCode(code) ? code : "INTERNAL");
      releaseSlot?.();
    },
  };
}

/** Longest operation name in a span, in UTF-16 units. */
const MAX_NAME = 100;

/**
 * The field of the schema that an operation selects. Names and aliases of clients would make an unlimited
 * number of metric labels.
 */
function operationField({ operation, selectionSet }: OperationDefinitionNode, schema: GraphQLSchema): string {
  const fields = schema.getRootType(operation)?.getFields() ?? {};
  const names = new Set(
    selectionSet.selections.map((selection) => {
      if (selection.kind !== Kind.FIELD) return "fragment";
      return Object.hasOwn(fields, selection.name.value) ? selection.name.value : "introspection";
    }),
  );
  const [first = "invalid", ...others] = names;
  return others.length > 0 ? "several" : first;
}

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
function costError(
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
const limitsFirst: ValidationRule = (context) => ({
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

/** True for a document with a page size that is no number in it: a variable or a default. Pure. */
function hasOpenSizes(schema: GraphQLSchema, document: DocumentNode): boolean {
  const typeInfo = new TypeInfo(schema);
  let isFound = false;
  visit(
    document,
    visitWithTypeInfo(typeInfo, {
      Field(node: FieldNode) {
        if (!typeInfo.getFieldDef()?.args.some(({ name }) => name === SIZE)) return;
        const given = node.arguments?.find(({ name }) => name.value === SIZE)?.value;
        isFound ||= !given || given.kind === Kind.VARIABLE;
      },
    }),
  );
  return isFound;
}

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
