import { expect, test } from "vitest";
import { leavesOpen } from "./observe-output.ts";

const text = { type: "string" };

test.each([
  ["no schema", undefined],
  ["true", true],
  ["an empty schema", {}],
  ["an object without fields", { type: "object" }],
  ["an object with any fields", { type: "object", properties: { id: text }, additionalProperties: true }],
  ["a list of anything", { type: "array" }],
  [
    "a list of any objects inside",
    { type: "object", properties: { result: { type: "array", items: { type: "object" } } } },
  ],
  ["values of any kind under any key", { type: "object", additionalProperties: {} }],
])("%s leaves the output open", (_, schema) => {
  expect(leavesOpen(schema)).toBe(true);
});

test.each([
  ["a text", text],
  ["an object with fields", { type: "object", properties: { id: text } }],
  ["an empty object", { type: "object", additionalProperties: false }],
  ["a list of texts", { type: "array", items: text }],
  ["texts under any key", { type: "object", additionalProperties: text }],
  ["a choice", { anyOf: [text, { type: "null" }] }],
])("%s does not", (_, schema) => {
  expect(leavesOpen(schema)).toBe(false);
});
