import { readFileSync } from "node:fs";
import { codegen } from "@graphql-codegen/core";
import * as typescript from "@graphql-codegen/typescript";
import { PlanStatusSchema, RequestStatusSchema, StepStatusSchema } from "@planwright/plan";
import {
  buildSchema,
  type GraphQLNamedType,
  isEnumType,
  isInputObjectType,
  isIntrospectionType,
  isObjectType,
  isSpecifiedScalarType,
  parse,
  validateSchema,
} from "graphql";
import { expect, test } from "vitest";
import { createSchema } from "./executable-schema.ts";

/** As answers are in JSON: every field that is asked for is there, or null. */
const TYPES: typescript.TypeScriptPluginConfig = {
  avoidOptionals: { field: true },
  enumsAsTypes: true,
  scalars: { DateTime: "string", ID: "string", JSON: "unknown" },
  skipTypename: true,
  strictScalars: true,
};

const text = readFileSync(new URL("./schema.graphql", import.meta.url), "utf8");

test("sdl.ts holds the text of schema.graphql (run vitest with -u after a change)", async () => {
  const escaped = text.replaceAll("\\", "\\\\").replaceAll("`", "\\`").replaceAll("${", "\\${");
  const source = `// Made from schema.graphql by schema.test.ts: run vitest with -u after a change there.
/** The schema in the schema definition language, as code, so that every build carries it. */
export const SDL = \`${escaped}\`;
`;
  await expect(source).toMatchFileSnapshot("./sdl.ts");
});

test("schema-types.ts holds the types of schema.graphql (run vitest with -u after a change)", async () => {
  const source = await codegen({
    filename: "schema-types.ts",
    schema: parse(text),
    documents: [],
    pluginMap: { typescript },
    plugins: [{ typescript: TYPES }],
    config: {},
  });
  const heading = "// Made from schema.graphql by schema.test.ts: run vitest with -u after a change there.\n";
  await expect(`${heading}${source}`).toMatchFileSnapshot("./schema-types.ts");
});

test("the schema is valid", () => {
  expect(validateSchema(buildSchema(text))).toEqual([]);
});

test.each([
  ["RequestStatus", RequestStatusSchema.options],
  ["PlanStatus", PlanStatusSchema.options],
  ["StepStatus", StepStatusSchema.options],
] as const)("%s has the statuses of its table, in their order", (name, statuses) => {
  const type = buildSchema(text).getType(name);
  expect(isEnumType(type) && type.getValues().map((value) => value.name)).toEqual(statuses);
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
