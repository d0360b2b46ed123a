import { expect, test } from "vitest";
import { toolDigest } from "./tool-digest.ts";

const tool = { name: "t", server: "s", description: "d", inputSchema: { type: "object", title: "x" } };

test("the digest is SHA-256 of the tool's declarations, in any order of fields", () => {
  const shuffled = { inputSchema: { title: "x", type: "object" }, description: "d", server: "s", name: "t" };
  expect(toolDigest(tool)).toMatch(/^[0-9a-f]{64}$/);
  expect(toolDigest(shuffled)).toBe(toolDigest(tool));
});

test.each([
  ["the server's name", { server: "other" }],
  ["the prefix of a unique name", { name: "s/t" }],
  ["trust", { trusted: true }],
  ["the operator's contract", { override: { barrier: true } }],
  ["the shape of its observed outputs", { observedOutput: { types: { object: 1 } } }],
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
