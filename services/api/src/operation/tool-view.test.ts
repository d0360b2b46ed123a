import { expect, test } from "vitest";
import { toToolView } from "./tool-view.ts";

const declared = { "x-orchestration": { category: "contract" } };

test.each([
  ["_meta", { _meta: { category: "meta", ...declared }, category: "top" }, "meta"],
  ["the descriptor", { category: "top", _meta: declared }, "top"],
  ["the contract in _meta", { _meta: declared }, "contract"],
  ["the contract at the top", declared, "contract"],
  ["the contract in the input schema", { inputSchema: declared }, "contract"],
  ["the server, if none is valid", { _meta: { category: 5 }, category: "" }, "blog"],
])("the category of a tool comes from %s", (_, fields, category) => {
  expect(toToolView({ name: "read", server: "blog", ...fields }).category).toBe(category);
});

test("parameters are the input schema", () => {
  const inputSchema = { type: "object", required: ["id"] };
  expect(toToolView({ name: "read", inputSchema })).toMatchObject({ inputSchema, parameters: inputSchema });
  expect(toToolView({ name: "read" }).parameters).toEqual({ type: "object" });
});
