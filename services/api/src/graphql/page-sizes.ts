import {
  type ArgumentNode,
  type DocumentNode,
  type FieldNode,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  TypeInfo,
  type ValueNode,
  visit,
  visitWithTypeInfo,
} from "graphql";
import { MAX_PAGE } from "../operation/connection.ts";

/** The argument that sets the page size. */
const SIZE = "first";

/**
 * The document with every page size as a number instead of a variable or default, so that a page costs the
 * same in every notation. The same object when nothing changes. Pure.
 * @param document - a valid document
 * @param variables - the variables of the client
 */
export function withPageSizes(
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
