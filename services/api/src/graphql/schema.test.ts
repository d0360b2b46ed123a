import { readFileSync } from "node:fs";
import {
  buildSchema,
  type GraphQLNamedType,
  isEnumType,
  isInputObjectType,
  isIntrospectionType,
  isObjectType,
  isSpecifiedScalarType,
  validateSchema,
} from "graphql";
import { expect, test } from "vitest";
import { createSchema } from "./executable-schema.ts";

const text = readFileSync(new URL("./schema.graphql", import.meta.url), "utf8");

test("sdl.ts holds the text of schema.graphql (run vitest with -u after a change)", async () => {
  const escaped = text.replaceAll("\\", "\\\\").replaceAll("`", "\\`").replaceAll("${", "\\${");
  const source = `// Made from schema.graphql by schema.test.ts: run vitest with -u after a change there.
/** The schema in the schema definition language, as code, so that every build carries it. */
export const SDL = \`${escaped}\`;
`;
  await expect(source).toMatchFileSnapshot("./sdl.ts");
});

test("the schema is valid", () => {
  expect(validateSchema(buildSchema(text))).toEqual([]);
});

test("every field has a resolver or a document's field, and no resolver is without a field", () => {
  expect(() => createSchema()).not.toThrow();
});

test("every type, field, argument and enum value is described", () => {
  const types = Object.values(buildSchema(text).getTypeMap()).filter(
    (type) => !isIntrospectionType(type) && !isSpecifiedScalarType(type),
  );
  const named = types.flatMap((type) => [
    { name: type.name, description: type.description },
    ...partsOf(type),
  ]);
  expect(named.filter(({ description }) => !description).map(({ name }) => name)).toEqual([]);
});

/** What a type is made of, by full name: `Request.status`, `Query.request(requestId)`. */
function partsOf(type: GraphQLNamedType): { name: string; description: string | null | undefined }[] {
  const { name } = type;
  if (isEnumType(type)) {
    return type.getValues().map((value) => ({ ...value, name: `${name}.${value.name}` }));
  }
  if (isInputObjectType(type)) {
    return Object.values(type.getFields()).map((field) => ({ ...field, name: `${name}.${field.name}` }));
  }
  if (!isObjectType(type)) return [];
  return Object.values(type.getFields()).flatMap((field) => [
    { name: `${name}.${field.name}`, description: field.description },
    ...field.args.map((argument) => ({
      name: `${name}.${field.name}(${argument.name})`,
      description: argument.description,
    })),
  ]);
}
