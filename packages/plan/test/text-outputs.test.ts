import { fc, test as property } from "@fast-check/vitest";
import {
  evaluateCondition,
  exactNumberOf,
  fitTexts,
  type JsonObject,
  type JsonValue,
  outputOfToolResult,
  PlanSchema,
  parsePlan,
  resolveArguments,
  resolveOutputs,
  resolveReferences,
  type ToolDescriptor,
} from "@planwright/plan";
import { expect, test } from "vitest";

/** The resolve options for a tool's text as the output of step "s1". */
function answered(text: string) {
  const read = outputOfToolResult({ content: [{ type: "text", text }] });
  if (!read.ok) throw new TypeError(read.error.message);
  return {
    outputs: { s1: read.output },
    texts: read.text === undefined ? {} : { s1: read.text },
  };
}

const schemaOf = (of: JsonValue, more: JsonObject = {}): JsonObject => ({
  type: "object",
  properties: { of },
  ...more,
});

/** The value of the argument `of` with this schema. */
function given(
  text: string,
  of: JsonValue | undefined,
  planned: JsonValue = "<<s1>>",
  more: JsonObject = {},
) {
  const schema = of === undefined ? undefined : schemaOf(of, more);
  const { value } = resolveArguments({ of: planned }, answered(text), schema);
  return (schema ? fitTexts(schema, value).value : value)["of"];
}

test.each<[string, JsonValue | undefined, JsonValue]>([
  ["5", { type: "integer" }, 5],
  ["5", { type: "number" }, 5],
  ["5", { type: "string" }, "5"],
  ["5", { type: ["string", "null"] }, "5"],
  ["5", { type: ["string", "integer"] }, 5],
  ["5", {}, 5],
  ["5", undefined, 5],
  ["5", { enum: ["4", "5"] }, "5"],
  ["5", { const: 5 }, 5],
  ["5", { anyOf: [{ type: "boolean" }, { type: "string" }] }, "5"],
  ["5", { $ref: "#/$defs/Id" }, "5"],
  ["007", { type: "string" }, "007"],
  ["007", undefined, "007"],
  ["1e3", { type: "string" }, "1e3"],
  ["1e3", { type: "integer" }, 1000],
  ["1e3", { type: ["string", "number"] }, "1e3"],
  ["1.10", { type: "string" }, "1.10"],
  ["12345678901234567891", { type: "string" }, "12345678901234567891"],
  ["12345678901234567891", undefined, exactNumberOf("12345678901234567891")],
  ["12345678901234567891", { type: "integer" }, exactNumberOf("12345678901234567891")],
  ["12345678901234567891", { type: ["string", "integer"] }, exactNumberOf("12345678901234567891")],
  ["true", { type: "boolean" }, true],
  ["true", { type: "string" }, "true"],
  ["null", { type: "null" }, null],
  ["null", { type: ["string", "null"] }, null],
  ["null", undefined, null],
  ["null", { type: "string" }, "null"],
  ['"a"', { type: "string" }, '"a"'],
  ['"a"', undefined, "a"],
  ['{ "a" : 1 }', { type: "object" }, { a: 1 }],
  ['{ "a" : 1 }', { type: "string" }, '{ "a" : 1 }'],
  ["[1,\n2]", { type: "array" }, [1, 2]],
  ["[1,\n2]", { type: "string" }, "[1,\n2]"],
  ["[1, 2]", { type: "array", items: { type: "string" } }, ["1", "2"]],
  ["Hello", { type: "integer" }, "Hello"],
])("a tool's text %j into %j is %j", (text, of, value) => {
  expect(given(text, of, "<<s1>>", { $defs: { Id: { type: "string" } } })).toEqual(value);
});

test.each<[string, JsonValue, JsonValue, JsonValue]>([
  ["in a list", { type: "array", items: { type: "string" } }, ["<<s1>>"], ["1e3"]],
  ["in a list of integers", { type: "array", items: { type: "integer" } }, ["<<s1>>", 2], [1000, 2]],
  [
    "at a place of a list",
    { type: "array", prefixItems: [{ type: "string" }, {}] },
    ["<<s1>>", "<<s1>>"],
    ["1e3", 1000],
  ],
  [
    "in an object",
    { type: "object", properties: { id: { type: "string" } } },
    { id: "<<s1>>" },
    { id: "1e3" },
  ],
  [
    "in a map",
    { type: "object", additionalProperties: { type: "string" } },
    { any: "<<s1>>" },
    { any: "1e3" },
  ],
  ["inside a text", { type: "string" }, "of <<s1>> each", "of 1e3 each"],
  ["inside a text without a schema of it", {}, "of {{s1}} each", "of 1e3 each"],
])("the target's type is that of its place: %s", (_, of, planned, value) => {
  expect(given("1e3", of, planned)).toEqual(value);
});

test("the data of a forEach's items is inserted as the tools wrote it", () => {
  const results = [5, 1000, "007", null].map((data, index) => ({
    index,
    key: `${index}`,
    status: "ok",
    data,
  }));
  const known = {
    outputs: { each: { results, summary: { ok: 4, error: 0 } } },
    texts: { each: [0, "1e3", null, 0] },
  };
  const schema = schemaOf({ type: "array", items: { type: "string" } }, {});
  const all = resolveArguments({ of: "<<each.results[*].data>>" }, known, schema);
  expect(all.value).toEqual({ of: ["5", "1e3", "007", "null"] });
  const one = resolveArguments({ of: "<<each.results[1].data>>" }, known, schemaOf({ type: "string" }));
  expect(one.value).toEqual({ of: "1e3" });
  const values = resolveReferences("<<each.results[*].data>>", known);
  expect(values.value).toEqual([5, 1000, "007", null]);
});

test("conditions compare the value, and with a text operand the text", () => {
  const known = answered("1e3");
  expect(evaluateCondition({ eq: ["<<s1>>", 1000] }, known)).toBe(true);
  expect(evaluateCondition({ eq: ["1e3", "<<s1>>"] }, known)).toBe(true);
  expect(evaluateCondition({ gt: ["<<s1>>", 999] }, known)).toBe(true);
  expect(evaluateCondition({ startsWith: ["<<s1>>", "1e"] }, known)).toBe(true);
  expect(evaluateCondition({ empty: "<<s1>>" }, answered("null"))).toBe(true);
  expect(evaluateCondition({ contains: ["<<s1>>", "a"] }, answered('["a"]'))).toBe(true);
  expect(evaluateCondition({ eq: ["<<s1>>", "a"] }, answered('"a"'))).toBe(true);
});

test("parts of outputs have the value, and inside a text the text", () => {
  const plan = PlanSchema.parse({
    steps: [{ id: "s1", tool: "t" }],
    outputs: { value: "<<s1>>", text: "it is <<s1>>" },
  });
  const { outputs, texts } = answered("1.0");
  expect(resolveOutputs(plan, outputs, texts).outputs).toEqual({ value: 1, text: "it is 1.0" });
});

const styles: ((value: JsonValue) => string)[] = [
  (value) => JSON.stringify(value),
  (value) => JSON.stringify(value, null, 2),
  (value) => ` ${JSON.stringify(value, null, 1)}\n`,
  (value) => JSON.stringify(value, null, "\t"),
  (value) => JSON.stringify(value, null, 1).replace(/,\n */g, ", ").replace(/\n */g, ""),
];
const TYPES = ["string", "number", "boolean", "null", "object", "array"] as const;
const typeOf = (value: JsonValue) =>
  value === null ? "null" : Array.isArray(value) ? "array" : (typeof value as (typeof TYPES)[number]);

property.prop([fc.jsonValue(), fc.constantFrom(...styles), fc.constantFrom(...TYPES)])(
  "whatever JSON a tool writes goes into a text as it was written, and into its own type as its value",
  (json, write, type) => {
    const value: JsonValue = JSON.parse(JSON.stringify(json));
    const text = write(value);
    fc.pre(!text.includes("__proto__"));
    expect(given(text, { type: "string" })).toBe(text);
    expect(given(text, {}, "<<s1>>!")).toBe(`${text}!`);
    expect(given(text, { type: typeOf(value) })).toEqual(typeOf(value) === "string" ? text : value);
    if (type !== "string") expect(given(text, { type })).toEqual(value);
    expect(given(text, undefined)).toEqual(value);
  },
);

const mail: ToolDescriptor = {
  name: "mail",
  inputSchema: {
    type: "object",
    properties: {
      to: { type: "string" },
      body: { type: "string" },
      tags: { type: "array", items: { type: "string" } },
      any: {},
      either: { type: ["string", "object"] },
      limit: { type: "integer" },
    },
  },
};

test.each<[string, JsonObject, JsonObject, number]>([
  ["a number", { to: 90210 }, { to: "90210" }, 1],
  ["a boolean", { to: true }, { to: "true" }, 1],
  ["an object", { body: { a: [1] } }, { body: '{"a":[1]}' }, 1],
  ["a list", { body: ["a", 1] }, { body: '["a",1]' }, 1],
  ["numbers in a list", { tags: [1, "b", 2] }, { tags: ["1", "b", "2"] }, 2],
  ["what fits", { to: "a", any: 5, either: { a: 1 }, limit: 5 }, {}, 0],
])("%s where a text is taken becomes its JSON text, with a warning", (_, args, fitted, count) => {
  expect(fitTexts(mail.inputSchema ?? {}, args).value).toEqual({ ...args, ...fitted });
  const parsed = parsePlan([{ tool: "mail", arguments: args }], { tools: [mail] });
  expect(parsed.ok).toBe(true);
  expect(parsed.diagnostics.map(({ code, severity }) => [code, severity])).toEqual(
    Array.from({ length: count }, () => ["ARGUMENT_TYPE", "warning"]),
  );
});

test.each<[string, JsonObject]>([
  ["null", { tags: [null] }],
  ["a text for a number", { limit: "many" }],
  ["a fraction for an integer", { limit: 1.5 }],
])("%s stays an error", (_, args) => {
  expect(parsePlan([{ tool: "mail", arguments: args }], { tools: [mail] })).toMatchObject({
    ok: false,
    diagnostics: [{ code: "ARGUMENT_TYPE", severity: "error" }],
  });
});
