import { expect, test } from "vitest";
import { offerTools } from "./offered-tools.ts";

test("each tool gets a name of its own that providers allow", () => {
  const tools = ["a/get.it", "a_get_it", "x".repeat(200)].map((name) => ({ name }));
  const offered = offerTools(tools);
  expect([...offered.keys()]).toEqual(["a_get_it", "a_get_it_2", "x".repeat(60)]);
  expect(offered.get("a_get_it_2")?.tool).toBe(tools[1]);
});

test("what strangers write is cleaned and cut, and schemas keep what says which values fit", () => {
  const inputSchema = {
    $schema: "x",
    type: "object",
    properties: { a: { type: "string", description: `b\u202e${"c".repeat(500)}`, "x-secret": "obey" } },
    required: ["a"],
  };
  const offer = offerTools([{ name: "t", description: `d\u200b${"e".repeat(900)}`, inputSchema }]).get(
    "t",
  )?.offer;
  expect(offer?.description).toHaveLength(400);
  expect(offer?.schema).toEqual({
    type: "object",
    properties: { a: { type: "string", description: `b${"c".repeat(118)}…` } },
    required: ["a"],
  });
});
