import type { JsonObject, ToolDescriptor } from "@planwright/plan";
import { expect, test } from "vitest";
import { directTools } from "./direct-calls.ts";

const text: JsonObject = { type: "string" };
const tool = (name: string, description: string, fields: string[], outputs: string[]): ToolDescriptor => ({
  name,
  description,
  inputSchema: {
    type: "object",
    properties: Object.fromEntries(fields.map((field) => [field, text])),
    required: fields,
  },
  outputSchema: { type: "object", properties: Object.fromEntries(outputs.map((field) => [field, text])) },
});
const TOOLS = [
  tool("get_weather", "Returns the current weather in a city.", ["city"], ["conditions"]),
  tool("get_price", "Returns the list price of a product.", ["product"], ["amount"]),
  tool("create_author", "Creates an author.", ["name", "email"], ["author_id"]),
  tool("create_blog", "Creates a blog of an author.", ["title", "author_id"], ["blog_id"]),
  tool("list_blogs", "Lists all blogs.", [], ["blogs"]),
];
const namesFor = (query: string, tools = TOOLS) => directTools(query, tools)?.map(({ name }) => name) ?? null;

test.each([
  ["What is the weather in Oslo?", ["get_weather"]],
  ["Get the weather in Oslo and the price of the Desk lamp", ["get_weather", "get_price"]],
  ["Create author Alice with email alice@test.com", ["create_author"]],
  ["Get the price of product 2026-12-01", ["get_price"]],
  ["Get the price of product 555-1234", ["get_price"]],
  ["Change the price of product 5 to 7", ["get_price"]],
])("%s: direct calls", (query, nearest) => {
  expect(namesFor(query)).toEqual(expect.arrayContaining(nearest));
});

test.each([
  ["three parts", "weather in Oslo, price of the lamp and list blogs"],
  ["a word that links", "Get the weather in Oslo, then the price of the Desk lamp"],
  ["a pronoun", "Create author Alice with email alice@test.com and greet her"],
  ["many things", "Get the weather for each city"],
  ["a condition", "Get the weather in Oslo if the price is low"],
  ["a condition in other words", "Get the weather in Oslo when the price is low"],
  ["anything that fits", "Get the weather in any city"],
  ["a negation", "Get the weather in Oslo, not in Rome"],
  ["a request not to do something", "Don't get the weather in Oslo"],
  ["a choice", "Get the weather in Oslo or Rome"],
  ["a range", "Get the price of products 5 to 7"],
  ["a range with a dash", "Get the price of products 5-7"],
  ["one part of a result", "Only tell me the weather in Oslo"],
  ["a tool that needs an id that another one makes", "Create blog titled Hello by Alice"],
  ["a long request", `What is the weather in ${"Oslo".repeat(100)}?`],
  ["words of no tool", "Zzz qqq"],
  ["no words", ""],
])("%s: a plan", (_, query) => {
  expect(namesFor(query)).toBeNull();
});

test("many tools with similar scores mean that retrieval cannot decide", () => {
  const alike = Array.from({ length: 12 }, (_, index) =>
    tool(`s${index}/get_weather`, "Returns the current weather in a city.", ["city"], ["conditions"]),
  );
  expect(namesFor("What is the weather in Oslo?", alike)).toBeNull();
});

test.each<[string, JsonObject]>([
  [
    "more fields than the budget allows",
    Object.fromEntries(
      [...Array(60).keys()].map((at) => [`field_${at}`, { ...text, description: "x".repeat(100) }]),
    ),
  ],
  ["a field that cannot be offered under its name", { "ci\u200bty": text }],
])("a request for a tool with %s needs a plan", (_, properties) => {
  const alike = TOOLS.map((each) =>
    each.name === "get_weather" ? { ...each, inputSchema: { type: "object", properties } } : each,
  );
  expect(namesFor("What is the weather in Oslo?", alike)).toBeNull();
  expect(namesFor("Get the price of the Desk lamp", alike)).toEqual(["get_price"]);
});
