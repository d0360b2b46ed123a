import { SpanKind, type TraceOrigin } from "@planwright/runtime";
import {
  type DocumentNode,
  type GraphQLFormattedError,
  type GraphQLSchema,
  Kind,
  NoSchemaIntrospectionCustomRule,
  type OperationDefinitionNode,
  type ValidationRule,
} from "graphql";
import { requireScope } from "../access/gate.ts";
import { isApiErrorCode } from "../errors/error-codes.ts";
import type { FormatError } from "../errors/format-error.ts";
import type { Admission } from "../load/admission.ts";
import type { GraphqlContext } from "../operation/context.ts";
import { incomingTrace } from "../telemetry/operation.ts";
import { costError, limitsFirst } from "./limits.ts";
import { type OperationNeeds, operationNeeds, selectsLargeFields } from "./operations.ts";

/** Dependencies of {@link createPipeline}. */
export interface PipelineDependencies {
  schema: GraphQLSchema;
  /** Whether clients may read the schema. */
  introspection: boolean;
  formatError: FormatError;
  admission: Admission;
}

/** An operation of a valid document. */
export interface SelectedOperation {
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
      const field = operationField(operation, schema);
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
      const tooExpensive = costError(schema, document, operation, variables ?? {});
      if (tooExpensive) throw tooExpensive;
      await admit(context, operationNeeds(document, operation), () => selectsLargeFields(schema, document));
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
