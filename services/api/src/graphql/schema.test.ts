import { readFileSync } from "node:fs";
import {
  buildSchema,
  isEnumType,
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

test("every type, every operation and every enum value is described", () => {
  const types = Object.values(buildSchema(text).getTypeMap()).filter(
    (type) => !isIntrospectionType(type) && !isSpecifiedScalarType(type),
  );
  const missing = types.flatMap((type) => {
    const own = type.description || ["Query", "Mutation"].includes(type.name) ? [] : [type.name];
    if (isEnumType(type)) {
      return [
        ...own,
        ...type.getValues().flatMap((value) => (value.description ? [] : `${type.name}.${value.name}`)),
      ];
    }
    if (!isObjectType(type) || !["Query", "Mutation"].includes(type.name)) return own;
    return [
      ...own,
      ...Object.values(type.getFields()).flatMap((field) => (field.description ? [] : field.name)),
    ];
  });
  expect(missing).toEqual([]);
});
