import { SpanKind, type SpanStart, type TraceOrigin } from "@planwright/runtime";
import type { GraphQLSchema, OperationDefinitionNode } from "graphql";
import { operationField } from "./operation-field.ts";

/** Longest operation name in a span, in UTF-16 units. */
const MAX_NAME = 100;

/** The span of an operation. It holds only the names of the operation and of its field. */
export function operationSpan(
  operation: OperationDefinitionNode,
  { schema, parent }: { schema: GraphQLSchema; parent: TraceOrigin | undefined },
): SpanStart {
  const name = operation.name?.value;
  return {
    name: `${operation.operation} ${operationField(operation, schema)}`,
    kind: SpanKind.SERVER,
    parent,
    attributes: {
      "graphql.operation.type": operation.operation,
      ...(name ? { "graphql.operation.name": name.slice(0, MAX_NAME) } : {}),
    },
  };
}
