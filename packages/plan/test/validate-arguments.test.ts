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
  // The first ones again, which the cache has dropped meanwhile.
  for (const count of [600, 60]) {
    for (let index = 0; index < count; index++) {
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

const codesOf = (inputSchema: JsonObject, args: JsonObject) =>
  validateArguments({ name: "t", inputSchema }, args).map(({ code, path }) => `${code} ${path}`);

test.each<[step: number, multiples: number[], others: number[]]>([
  [0.01, [19.99, 0.07, 8.95, 4.35, 1.1, 0, -19.99, 1e15, 123_456_789.01], [19.999, 0.001, 1e-7]],
  [0.1, [0.3, 0.7, 1.1, 2, -0.6], [0.35, 0.01, 0.1 + 0.2]],
  [0.001, [0.003, 1.005, 9.998], [0.0005]],
  [0.25, [0.75, 1e21], [0.3]],
  [1e-8, [1.23e-6, 0.1], [1e-9]],
  [5, [10, -5, 1e21], [7, 2.5]],
  [1e300, [1e300, 3e300], [1e299]],
])("multiples of %d are decimal: %j, and not %j", (multipleOf, multiples, others) => {
  const schema = { properties: { a: { type: "number", multipleOf } } };
  expect(multiples.filter((a) => codesOf(schema, { a }).length > 0)).toEqual([]);
  expect(others.filter((a) => codesOf(schema, { a }).length === 0)).toEqual([]);
  expect(validateArguments({ name: "t", inputSchema: schema }, { a: others[0] ?? 0 })[0]?.message).toBe(
    `t: argument a must be multiple of ${multipleOf}`,
  );
});

const INHERITED = ["constructor", "toString", "valueOf", "hasOwnProperty", "prototype", "__defineGetter__"];

test.each(INHERITED)("a parameter called %s is an ordinary one", (name) => {
  const field = { type: "object", properties: { [name]: { type: "integer" } }, required: [name] };
  const schema = { ...field, additionalProperties: false };
  expect(codesOf(schema, { [name]: 1 })).toEqual([]);
  expect(codesOf(schema, { [name]: "x" })).toEqual([`ARGUMENT_TYPE arguments.${name}`]);
  expect(codesOf(schema, {})).toEqual([`ARGUMENT_MISSING arguments.${name}`]);
  expect(codesOf({ properties: field.properties }, {})).toEqual([]);
  expect(codesOf({ properties: { a: field } }, { a: {} })).toEqual([`ARGUMENT_MISSING arguments.a.${name}`]);
  expect(codesOf({ dependentRequired: { [name]: ["b"] } }, {})).toEqual([]);
  expect(codesOf({ additionalProperties: false }, { [name]: 1 })).toEqual([
    `ARGUMENT_UNKNOWN arguments.${name}`,
  ]);

  const tools = [{ name: "t", inputSchema: { type: "object", properties: { [name]: { type: "string" } } } }];
  const steps = [
    { id: "a", tool: "t" },
    { id: "b", tool: "t", arguments: { [name]: "<<a.x>>" } },
  ];
  const [, step] = expectPlan(parsePlan({ steps }, { tools })).steps;
  expect(step).toMatchObject({ arguments: { [name]: "<<a.x>>" } });
  const named = [{ id: "b", tool: "t", arguments: [{ name, value: "x" }] }];
  expect(expectPlan(parsePlan(named, { tools })).steps[0]).toMatchObject({ arguments: { [name]: "x" } });
  const empty = [{ id: "b", tool: "t", arguments: { [name]: null } }];
  expect(expectPlan(parsePlan(empty, { tools })).steps[0]).toMatchObject({ arguments: {} });
});

test.each([
  ['{"arguments":{"__proto__":"x"}}', "$.steps[0].arguments.__proto__"],
  ['{"arguments":{"a":[{"__proto__":1}]}}', "$.steps[0].arguments.a[0].__proto__"],
  ['{"arguments":"{\\"__proto__\\":1}"}', "$.__proto__"],
])("a field called __proto__ is refused by its path: %s", (step, path) => {
  const { diagnostics } = parsePlan(`{"steps":[${step.replace("{", '{"tool":"t",')}]}`);
  expect(diagnostics).toEqual([
    expect.objectContaining({
      code: "FIELD_UNKNOWN",
      message: expect.stringContaining(`The field ${path} has`),
    }),
  ]);
});

test.each<[string, JsonObject, JsonObject, string[]]>([
  [
    "a dynamic anchor in the definitions",
    { properties: { a: { $dynamicRef: "#x" } }, $defs: { x: { $dynamicAnchor: "x", type: "string" } } },
    { a: 5 },
    ["ARGUMENT_TYPE arguments.a"],
  ],
  [
    "a dynamic anchor at the root",
    {
      $dynamicAnchor: "node",
      properties: { v: { type: "string" }, children: { items: { $dynamicRef: "#node" } } },
    },
    { children: [{ children: [{ v: 5 }] }] },
    ["ARGUMENT_TYPE arguments.children[0].children[0].v"],
  ],
  [
    "a place",
    { properties: { a: { $dynamicRef: "#/$defs/x" } }, $defs: { x: { type: "string" } } },
    { a: 5 },
    ["ARGUMENT_TYPE arguments.a"],
  ],
  [
    "the root, in the words of an older draft",
    { $recursiveAnchor: true, properties: { v: { type: "string" }, in: { $recursiveRef: "#" } } },
    { in: { v: 5 } },
    ["ARGUMENT_TYPE arguments.in.v"],
  ],
  ["nothing", { properties: { a: { $dynamicRef: "#x" } } }, { a: 5 }, ["TOOL_SCHEMA_UNUSABLE undefined"]],
])("a dynamic reference can mean %s", (_what, schema, args, found) => {
  expect(codesOf(schema, args)).toEqual(found);
});

function expectPlan(read: ReturnType<typeof parsePlan>) {
  if (!read.ok) throw new Error(JSON.stringify(read.diagnostics));
  return read.plan;
}
