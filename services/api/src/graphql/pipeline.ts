import { maxAliasesRule } from "@escape.tech/graphql-armor-max-aliases";
import { maxDepthRule } from "@escape.tech/graphql-armor-max-depth";
import { SpanKind, type TraceOrigin } from "@planwright/runtime";
import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLField,
  type GraphQLFormattedError,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  isInterfaceType,
  isObjectType,
  Kind,
  NoSchemaIntrospectionCustomRule,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
  type ValidationContext,
  type ValidationRule,
  type ValueNode,
  validate,
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
      hasOpenSizes: measure(schema, document, operation, null).hasOpenSizes,
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
      // Measured again: its page sizes are known only now.
      if (hasOpenSizes && measure(schema, document, operation, variables ?? {}).cost > DOCUMENT_LIMITS.cost)
        throw exceeded("cost", DOCUMENT_LIMITS.cost);
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
  /** As {@link measure} counts it. */
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
    costRule,
  ];
}

/** Refuses what costs too much whatever its variables are. */
const costRule: ValidationRule = (context) => ({
  OperationDefinition(operation) {
    const { cost } = measure(context.getSchema(), context.getDocument(), operation, null);
    if (cost > DOCUMENT_LIMITS.cost) context.reportError(exceeded("cost", DOCUMENT_LIMITS.cost));
  },
});

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
  const report = (context: ValidationContext | null): void => context?.reportError(exceeded(limit, max));
  return { propagateOnRejection: false, onReject: [report] };
}

function exceeded(limit: string, max: number): GraphQLError {
  const message = `The document exceeds the limit for ${limit}, which is ${max}`;
  return new GraphQLError(message, { extensions: { limit, max } });
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
 * What an operation costs: 2 for an object and 1 for another field, with 1.5 times what is below it, times its page
 * size. A fragment costs what its fields cost, each time that it is spread, because the same data is read. Pure.
 * @param document - also one that is not validated
 * @param variables - those of the client; null while they are not known: page sizes outside the document count as 1
 * @returns `hasOpenSizes`: a page size is a variable or a default, so the cost may be higher with other variables
 */
function measure(
  schema: GraphQLSchema,
  document: DocumentNode,
  { operation, selectionSet, variableDefinitions = [] }: OperationDefinitionNode,
  variables: Readonly<Record<string, unknown>> | null,
): { cost: number; hasOpenSizes: boolean } {
  const fragments = new Map(
    document.definitions.flatMap((one): [string, FragmentDefinitionNode][] =>
      one.kind === Kind.FRAGMENT_DEFINITION ? [[one.name.value, one]] : [],
    ),
  );
  /** Each fragment once: fragments that spread others twice would double the work at every level. */
  const measured = new Map<string, number>();
  let hasOpenSizes = false;

  function ofSelections({ selections }: SelectionSetNode, type: GraphQLNamedType | null | undefined): number {
    return selections.reduce((cost, selection) => cost + ofSelection(selection, type), 0);
  }

  function ofSelection(selection: SelectionNode, type: GraphQLNamedType | null | undefined): number {
    if (selection.kind === Kind.FIELD) return ofField(selection, type);
    if (selection.kind === Kind.INLINE_FRAGMENT) {
      const { typeCondition, selectionSet } = selection;
      return ofSelections(selectionSet, typeCondition ? schema.getType(typeCondition.name.value) : type);
    }
    const name = selection.name.value;
    const known = measured.get(name);
    const fragment = fragments.get(name);
    if (known !== undefined || !fragment) return known ?? 0;
    // Inside itself it costs nothing: GraphQL refuses it.
    measured.set(name, 0);
    const cost = ofSelections(fragment.selectionSet, schema.getType(fragment.typeCondition.name.value));
    measured.set(name, cost);
    return cost;
  }

  function ofField(field: FieldNode, type: GraphQLNamedType | null | undefined): number {
    if (!field.selectionSet) return 1;
    if (field.name.value === "__schema") return 0;
    const fields = isObjectType(type) || isInterfaceType(type) ? type.getFields() : {};
    const definition = Object.hasOwn(fields, field.name.value) ? fields[field.name.value] : undefined;
    const below = ofSelections(field.selectionSet, definition && getNamedType(definition.type));
    return (2 + 1.5 * below) * pageSize(field, definition);
  }

  function pageSize(field: FieldNode, definition: GraphQLField<unknown, unknown> | undefined): number {
    const given = field.arguments?.find(({ name }) => name.value === SIZE)?.value;
    if (given?.kind === Kind.INT) return Math.max(1, Number(given.value));
    const argument = definition?.args.find(({ name }) => name === SIZE);
    if (!argument) return 1;
    hasOpenSizes = true;
    const size = variables ? openSize(given, argument.defaultValue, variables) : 1;
    // The field itself refuses other values.
    return typeof size === "number" && Number.isInteger(size) ? Math.min(Math.max(1, size), MAX_PAGE) : 1;
  }

  function openSize(
    given: ValueNode | undefined,
    byDefault: unknown,
    values: Readonly<Record<string, unknown>>,
  ): unknown {
    if (given?.kind !== Kind.VARIABLE) return byDefault;
    const name = given.name.value;
    if (Object.hasOwn(values, name)) return values[name];
    const declared = variableDefinitions.find(({ variable }) => variable.name.value === name)?.defaultValue;
    return declared?.kind === Kind.INT ? Number(declared.value) : byDefault;
  }

  const cost = ofSelections(selectionSet, schema.getRootType(operation));
  return { cost, hasOpenSizes };
}
