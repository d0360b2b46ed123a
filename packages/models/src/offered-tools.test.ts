import type { JsonObject } from "@planwright/plan";
import { expect, test } from "vitest";
import { MAX_OFFER_TOKENS, offerTools } from "./direct-calls.ts";
import { estimateTokens } from "./prompts/prompt-budget.ts";

const text: JsonObject = { type: "string" };
const objectOf = (properties: JsonObject, rest: JsonObject = {}): JsonObject => ({
  type: "object",
  properties,
  ...rest,
});
const schemaOf = (inputSchema: JsonObject) =>
  offerTools([{ name: "t", inputSchema }])?.get("t")?.offer.schema;
const fields = (count: number, schema: JsonObject) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`field${index}`, schema]));

test("each tool gets a unique name that providers allow", () => {
  const tools = ["a/get.it", "a_get_it", "x".repeat(200)].map((name) => ({ name }));
  const offered = offerTools(tools);
  expect([...(offered?.keys() ?? [])]).toEqual(["a_get_it", "a_get_it_2", "x".repeat(60)]);
  expect(offered?.get("a_get_it_2")?.tool).toBe(tools[1]);
});

test("untrusted text is cleaned and cut, and schemas keep the keywords that restrict values", () => {
  const inputSchema = {
    $schema: "x",
    ...objectOf(
      {
        a: { ...text, description: `b\u202e${"c".repeat(500)}`, "x-secret": "obey" },
        b: { enum: ["x", null, 1] },
        c: { type: "array", items: { anyOf: [text, { const: false }] } },
      },
      { required: ["a"] },
    ),
  };
  const offered = offerTools([{ name: "t", description: `d\u200b${"e".repeat(900)}`, inputSchema }]);
  const offer = offered?.get("t")?.offer;
  expect(offer?.description).toHaveLength(400);
  expect(offer?.schema).toEqual(
    objectOf(
      {
        a: { ...text, description: `b${"c".repeat(118)}…` },
        b: { enum: ["x", null, 1] },
        c: { type: "array", items: { anyOf: [text, { const: false }] } },
      },
      { required: ["a"] },
    ),
  );
});

test.each<[string, JsonObject]>([
  ["a field with an invisible character", objectOf({ "na\u200bme": text })],
  ["a field with a name of 200 characters", objectOf({ ["x".repeat(200)]: text })],
  ["a field deep down that providers refuse", objectOf({ a: { items: objectOf({ "a b": text }) } })],
  ["a required field with an invisible character", objectOf({}, { required: ["na\u200bme"] })],
  ["an allowed value that is too long", objectOf({ a: { enum: ["x".repeat(121)] } })],
  ["an allowed value with an invisible character", objectOf({ a: { const: "\u202eb" } })],
  ["allowed values that are objects", objectOf({ a: { enum: [{ b: 1 }] } })],
  ["61 fields", objectOf(fields(61, {}))],
  ["61 allowed values", objectOf({ a: { enum: [...Array(61).keys()] } })],
  ["more than six levels", Array.from({ length: 7 }).reduce<JsonObject>((a) => objectOf({ a }), text)],
])("%s: the tool is not offered, because its arguments could not be mapped back", (_, inputSchema) => {
  expect(schemaOf(objectOf({ name: text }))).toBeDefined();
  expect(schemaOf(inputSchema)).toBeUndefined();
});

test("one offered tool, and several together, cost at most 1,500 tokens", () => {
  const tool = (name: string, count: number) => ({
    name,
    inputSchema: objectOf(fields(count, { ...text, description: "x".repeat(100) })),
  });
  const offered = offerTools([tool("a", 10), tool("b", 10)]) ?? new Map();
  const tokens = [...offered.values()].map(({ offer }) => estimateTokens(JSON.stringify(offer)));
  expect(tokens).toHaveLength(2);
  expect(tokens.reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(MAX_OFFER_TOKENS);
  expect(offerTools([tool("a", 50)])).toBeNull();
  expect(offerTools([tool("a", 10), tool("b", 10), tool("c", 30)])).toBeNull();
});
