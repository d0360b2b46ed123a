import {
  type JsonObject,
  type JsonValue,
  parsePlan,
  planJsonSchema,
  validateArguments,
} from "@planwright/plan";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import table from "./data/arguments.json" with { type: "json" };

interface ArgumentCase {
  title: string;
  schema: JsonObject;
  arguments: JsonObject;
  found: [code: string, path?: string][];
}

test.each(table as unknown as ArgumentCase[])(
  "validateArguments: $title",
  ({ schema, arguments: args, found }) => {
    const diagnostics = validateArguments({ name: "t", inputSchema: schema }, args);
    expect(diagnostics.map(({ code, path }) => (path === undefined ? [code] : [code, path]))).toEqual(found);
  },
);

const nested = (depth: number): JsonValue => {
  let value: JsonValue = 1;
  for (let level = 0; level < depth; level++) value = { a: value };
  return value;
};
const doubling = Object.fromEntries(
  Array.from({ length: 60 }, (_, level) => [
    `d${level}`,
    { allOf: [{ $ref: `#/$defs/d${level + 1}` }, { $ref: `#/$defs/d${level + 1}` }] },
  ]),
);

test.each<[string, JsonObject, JsonValue]>([
  ["is endlessly recursive", { $ref: "#" }, { a: 1 }],
  ["refers to itself through allOf", { allOf: [{ $ref: "#" }] }, { a: 1 }],
  [
    "doubles at each of 60 levels",
    { $ref: "#/$defs/d0", $defs: { ...doubling, d60: { type: "object" } } },
    { a: 1 },
  ],
  [
    "doubles at each level of the arguments",
    { properties: { a: { anyOf: [{ $ref: "#" }, { $ref: "#" }] } }, type: "string" },
    nested(60),
  ],
  ["refers to another document", { $ref: "https://example.com/x.json" }, {}],
  ["refers to nothing", { $ref: "#/$defs/none" }, {}],
  ["is nested 10,000 deep", JSON.parse(`${'{"not":'.repeat(10_000)}{}${"}".repeat(10_000)}`), {}],
  [
    "has 100,000 properties",
    { properties: Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`p${i}`, {}])) },
    {},
  ],
])("a schema that %s neither hangs nor throws", (_, inputSchema, args) => {
  const found = validateArguments({ name: "t", inputSchema }, args as JsonObject);
  expect(found.map(({ code, severity }) => [code, severity])).toEqual([["TOOL_SCHEMA_UNUSABLE", "warning"]]);
  const parsed = parsePlan([{ tool: "t", arguments: args }], {
    tools: [{ name: "t", inputSchema }],
    limits: { maxDepth: 100 },
  });
  expect(parsed.ok).toBe(true);
});

test.each<[string, JsonObject, JsonObject, number]>([
  [
    "a pattern that backtracks",
    { properties: { a: { pattern: "^(a+)+$" } } },
    { a: `${"a".repeat(50_000)}!` },
    1,
  ],
  [
    "a pattern with look-ahead, which accepts everything",
    { properties: { a: { pattern: "(?=x)y" } } },
    { a: "z" },
    0,
  ],
  ["an invalid pattern", { properties: { a: { pattern: "(" } } }, { a: "z" }, 0],
  [
    "unique items among 50,000",
    { properties: { a: { uniqueItems: true } } },
    { a: Array.from({ length: 50_000 }, (_, i) => ({ i })) },
    0,
  ],
  [
    "a choice of 5,000 for each of 5,000 items",
    { properties: { a: { items: { enum: Array.from({ length: 5_000 }, (_, i) => i) } } } },
    { a: Array.from({ length: 5_000 }, (_, i) => i) },
    0,
  ],
  ["an unknown format", { properties: { a: { format: "phone-of-mars" } } }, { a: "z" }, 0],
  [
    "unknown keywords",
    { properties: { a: { widget: { deep: [1] } } }, "x-orchestration": { mode: "parallel-safe" } },
    { a: "z" },
    0,
  ],
  [
    "a schema of an older draft",
    {
      $schema: "http://json-schema.org/draft-07/schema#",
      $id: "urn:x",
      properties: { a: { items: [{ type: "string" }, { type: "number" }] } },
    },
    { a: [1, 2] },
    1,
  ],
])("validateArguments copes with %s", (_, inputSchema, args, count) => {
  expect(
    validateArguments({ name: "t", inputSchema }, args).filter(({ severity }) => severity === "error"),
  ).toHaveLength(count);
});

test("a schema is cached by its content, and two tools with the same $id are not mixed up", () => {
  const one = () => ({ $id: "urn:same", type: "object", required: ["a"] });
  const other = { $id: "urn:same", type: "object", required: ["b"] };
  expect(validateArguments({ name: "t", inputSchema: one() }, {})[0]?.path).toBe("arguments.a");
  expect(validateArguments({ name: "t", inputSchema: other }, {})[0]?.path).toBe("arguments.b");
  expect(validateArguments({ name: "t", inputSchema: one() }, {})[0]?.path).toBe("arguments.a");
});

test("validation stays correct with more schemas than the cache holds", () => {
  for (let round = 0; round < 2; round++) {
    for (let index = 0; index < 600; index++) {
      const inputSchema = { required: [`f${index}`] };
      expect(validateArguments({ name: "t", inputSchema }, {})[0]?.path).toBe(`arguments.f${index}`);
    }
  }
});

test("a plan in canonical form is valid by planJsonSchema", () => {
  const parsed = parsePlan([
    { tool: "a" },
    { tool: "b", arguments: { x: "{{a.y}}" }, when: { not: { exists: "<<a.z>>" } } },
  ]);
  if (!parsed.ok) expect.fail("refused");
  const validate = new Ajv2020({ strict: false }).compile(planJsonSchema());
  expect(validate(parsed.plan)).toBe(true);
  expect(validate({ steps: [{ id: "1", tool: "a" }] })).toBe(false);
});
