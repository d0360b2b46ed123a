import type { JsonObject, JsonValue } from "@planwright/plan";
import { expect, test } from "vitest";
import { shorthandSchema } from "./describe-tools.ts";

const FULL = { depth: 5, isFull: true };
const object = (properties: JsonObject, required: string[] = []): JsonObject => ({
  type: "object",
  properties,
  required,
});

test.each<[string, JsonValue, JsonValue]>([
  [
    "a field that is required, and one that is not",
    object({ a: { type: "string" }, b: { type: "number" } }, ["a"]),
    { a: "string", "b?": "number" },
  ],
  ["the description, after a colon", { type: "string", description: "One\n line" }, "string: One line"],
  [
    "a format, a range and a default",
    { type: "integer", format: "int32", minimum: 1, maximum: 10, default: 3 },
    "integer (int32) 1..10 = 3",
  ],
  ["a range with one bound", { type: "number", minimum: 0 }, "number 0.."],
  ["allowed values of another type", { type: "integer", enum: ["1", "2"] }, "1 | 2"],
  ["allowed values", { type: "string", enum: ["low", 2, null], default: "low" }, '"low" | 2 | null = "low"'],
  ["one value", { const: "x" }, '"x"'],
  ["several types", { type: ["string", "null"] }, "string|null"],
  ["a list", { type: "array", items: { type: "string" }, description: "Names" }, ["string", "Names"]],
  ["a list of objects", { type: "array", items: object({ a: { type: "string" } }) }, [{ "a?": "string" }]],
  ["alternatives", { anyOf: [{ type: "string" }, { type: "null" }], description: "x" }, "string or null: x"],
  [
    "alternatives with an object",
    { oneOf: [object({ a: true }), { type: "null" }] },
    { "one of": [{ "a?": "any" }, "null"] },
  ],
  ["anything", {}, "any"],
  ["no schema", true, "any"],
  ["a field of any name", object({ type: { type: "string" } }), { "type?": "string" }],
])("%s", (_, schema, expected) => {
  expect(shorthandSchema(schema, FULL)).toEqual(expected);
});

test("without details only names and types are shown, and below the depth only types", () => {
  const inner = object({ c: { type: "string", enum: ["x"], description: "d" } });
  const schema = object({ a: inner, b: { type: "array", items: inner } }, ["a"]);
  expect(shorthandSchema(schema, { depth: 2, isFull: false })).toEqual({
    a: { "c?": "string" },
    "b?": ["object"],
  });
  expect(shorthandSchema(schema, { depth: 1, isFull: false })).toEqual({ a: "object", "b?": "array" });
  expect(shorthandSchema(schema, { depth: 2, isFull: false, isRequiredOnly: true })).toEqual({ a: {} });
});

test("untrusted text is cleaned and cut", () => {
  const schema = {
    type: "string",
    description: `\u202ea${"x".repeat(500)}`,
    enum: [`\u200b${"y".repeat(500)}`],
  };
  const text = String(shorthandSchema(schema, FULL));
  expect(text.length).toBeLessThan(260);
  expect(text).not.toMatch(/[\u200b\u202e]/u);
});
