import { type GraphQLSchema, Kind, type OperationDefinitionNode } from "graphql";

/**
 * The field of the schema that an operation selects. Names and aliases of clients would make an unlimited
 * number of metric labels.
 */
export function operationField(
  { operation, selectionSet }: OperationDefinitionNode,
  schema: GraphQLSchema,
): string {
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
