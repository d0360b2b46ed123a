import { expect, test } from "vitest";
import { canonicalJson } from "../json/canonical-json.ts";
import { toolDigest } from "./tool-digest.ts";

const tool = { name: "t", server: "s", description: "d", inputSchema: { type: "object", title: "x" } };

test("canonical JSON has one text for equal values", () => {
  const value = { b: [1, { d: null, c: "é\u2028" }], a: { "10": 1, "9": 2 }, skipped: undefined };
  expect(canonicalJson(value)).toBe('{"a":{"10":1,"9":2},"b":[1,{"c":"é\u2028","d":null}]}');
  expect(canonicalJson(JSON.parse('{"__proto__":{"b":1,"a":2}}'))).toBe('{"__proto__":{"a":2,"b":1}}');
});

test("the digest is SHA-256 of what the tool says, whatever the order of its fields", () => {
  const shuffled = { inputSchema: { title: "x", type: "object" }, description: "d", server: "s", name: "t" };
  expect(toolDigest(tool)).toMatch(/^[0-9a-f]{64}$/);
  expect(toolDigest(shuffled)).toBe(toolDigest(tool));
});

test.each([
  ["the server's name", { server: "other" }],
  ["the prefix of a unique name", { name: "s/t" }],
  ["trust", { trusted: true }],
  ["the operator's contract", { override: { barrier: true } }],
  ["what was learned of its outputs", { observedOutput: { types: { object: 1 } } }],
])("%s does not change the digest", (_what, change) => {
  expect(toolDigest({ ...tool, ...change })).toBe(toolDigest(tool));
});

test.each([
  ["name", { name: "u" }],
  ["description", { description: "e" }],
  ["schema", { inputSchema: { type: "object" } }],
  ["annotations", { annotations: { readOnlyHint: true } }],
  ["contract", { _meta: { "x-orchestration": {} } }],
])("a changed %s changes the digest", (_what, change) => {
  expect(toolDigest({ ...tool, ...change })).not.toBe(toolDigest(tool));
});
