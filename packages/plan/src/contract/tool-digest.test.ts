import { expect, test } from "vitest";
import type { JsonObject } from "../json/json.ts";
import type { ToolDescriptor } from "../tools/tool-descriptor.ts";
import { changesSince, fingerprintOf, type ToolPart, toolDigest } from "./pin-tools.ts";

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
  ["schema", { inputSchema: { type: "object", required: ["a"] } }],
  ["annotations", { annotations: { readOnlyHint: true } }],
  ["contract", { _meta: { "x-orchestration": {} } }],
])("a changed %s changes the digest", (_what, change) => {
  expect(toolDigest({ ...tool, ...change })).not.toBe(toolDigest(tool));
});

type Change = readonly [what: string, before: JsonObject, after: JsonObject];
const field = (schema: JsonObject): JsonObject => ({ type: "object", properties: { a: schema } });

/** Schemas that are written in other ways and mean the same. */
const SAME: readonly Change[] = [
  ["the order of required", { required: ["a", "b"] }, { required: ["b", "a"] }],
  ["a name twice in required", { required: ["a"] }, { required: ["a", "a"] }],
  ["no required names", { type: "object" }, { type: "object", required: [] }],
  ["the order of enum", field({ enum: ["x", 1, null] }), field({ enum: [null, "x", 1] })],
  [
    "the order of anyOf",
    field({ anyOf: [{ type: "string" }, {}] }),
    field({ anyOf: [{}, { type: "string" }] }),
  ],
  ["the order of oneOf", { oneOf: [{ required: ["a"] }, {}] }, { oneOf: [{}, { required: ["a"] }] }],
  ["the order of allOf", { allOf: [{ minProperties: 1 }, {}] }, { allOf: [{}, { minProperties: 1 }] }],
  ["the order of types", field({ type: ["string", "null"] }), field({ type: ["null", "string"] })],
  ["a list of one type", field({ type: ["string"] }), field({ type: "string" })],
  ["a type in capitals", { type: "OBJECT" }, { type: "object" }],
  ["null for an absent keyword", { type: "object" }, { type: "object", required: null, properties: null }],
  [
    "the order inside a definition",
    { $defs: { d: { items: { required: ["a", "b"] } } } },
    { $defs: { d: { items: { required: ["b", "a"] } } } },
  ],
  [
    "the order of dependent names",
    { dependentRequired: { a: ["b", "c"] } },
    { dependentRequired: { a: ["c", "b"] } },
  ],
];

/** Schemas that differ in texts alone. */
const RETOLD: readonly Change[] = [
  ["a default value", field({ default: "12:00:01" }), field({ default: "12:00:02" })],
  ["a new default value", field({}), field({ default: null })],
  ["a description", field({ description: "Default: 12:00" }), field({ description: "Default: 12:01" })],
  ["a title", { title: "At 12:00" }, { title: "At 12:01" }],
  ["examples", field({ examples: ["2026-01-01"] }), field({ examples: ["2026-01-02"] })],
  ["a comment", { $comment: "a" }, { $comment: "b" }],
  [
    "a description inside a choice",
    field({ anyOf: [{ items: { description: "a" } }] }),
    field({ anyOf: [{ items: { description: "b" } }] }),
  ],
];

/** Schemas that mean something else. */
const OTHER: readonly Change[] = [
  ["a required name", { required: ["a"] }, { required: ["a", "b"] }],
  ["an accepted value", field({ enum: ["x", "y"] }), field({ enum: ["x", "z"] })],
  ["the order of lists among accepted values", field({ enum: [["x", "y"]] }), field({ enum: [["y", "x"]] })],
  ["a constant", field({ const: ["a", "b"] }), field({ const: ["b", "a"] })],
  ["a choice", field({ anyOf: [{ type: "string" }] }), field({ anyOf: [{ type: "number" }] })],
  ["a type", field({ type: "string" }), field({ type: ["string", "null"] })],
  [
    "the order of positions",
    { prefixItems: [{ type: "string" }, {}] },
    { prefixItems: [{}, { type: "string" }] },
  ],
  [
    "the order of positions in items",
    { items: [{ type: "string" }, {}] },
    { items: [{}, { type: "string" }] },
  ],
  ["a parameter called description", field({}), { type: "object", properties: { a: {}, description: {} } }],
  [
    "the type of a parameter called default",
    { properties: { default: { type: "string" } } },
    { properties: { default: { type: "number" } } },
  ],
  ["a pattern", field({ pattern: "^a" }), field({ pattern: "^b" })],
  ["a lower bound", field({ minimum: 1 }), field({ minimum: 2 })],
  ["other arguments", {}, { additionalProperties: false }],
  ["the contract in a schema", { "x-orchestration": {} }, { "x-orchestration": { barrier: true } }],
];

const toolWith = (schema: JsonObject): ToolDescriptor => ({
  name: "t",
  inputSchema: schema,
  outputSchema: schema,
});
const changesOf = ([, before, after]: Change) =>
  changesSince(fingerprintOf(toolWith(before)), toolWith(after));

test.each(SAME)("%s is no change of a tool", (...change) => {
  const [, before, after] = change;
  expect(changesOf(change)).toEqual([]);
  expect(toolDigest(toolWith(after))).toBe(toolDigest(toolWith(before)));
});

test.each(RETOLD)("another text is a change of texts only, and of no digest: %s", (...change) => {
  const [, before, after] = change;
  expect(changesOf(change)).toEqual(["texts"]);
  expect(toolDigest(toolWith(after))).toBe(toolDigest(toolWith(before)));
});

test.each(OTHER)("%s is a change of a tool", (...change) => {
  const [, before, after] = change;
  expect(changesOf(change)).toEqual(["inputSchema", "outputSchema"]);
  expect(toolDigest(toolWith(after))).not.toBe(toolDigest(toolWith(before)));
});

test.each<[string, Partial<ToolDescriptor>, ToolPart[]]>([
  [
    "the title in its annotations",
    { annotations: { title: "At 12:01", readOnlyHint: true } },
    ["description"],
  ],
  ["a hint in its annotations", { annotations: { readOnlyHint: false } }, ["annotations"]],
  ["an absent hint that is null", { annotations: { readOnlyHint: true, idempotentHint: null! } }, []],
  ["its icons", { icons: [{ src: "https://x.test/a.png" }] }, ["texts"]],
  ["metadata that no contract reads", { _meta: { listedAt: "12:01" } }, ["texts"]],
  ["the contract in its metadata", { _meta: { "x-orchestration": { barrier: true } } }, ["contract"]],
  ["a field that MCP does not define", { sequential: true }, ["contract"]],
  ["an output schema that is null", { outputSchema: null! }, []],
])("a tool with another value of %s", (_what, change, changes) => {
  const before = { name: "t", annotations: { readOnlyHint: true } };
  expect(changesSince(fingerprintOf(before), { ...before, ...change })).toEqual(changes);
});

test("a pin of an older version is compared by every character, as it was made", () => {
  const search = { name: "t", description: "d", inputSchema: { type: "object", required: ["a", "b"] } };
  const stored = {
    server: null,
    name: "t",
    digest: "b3986da0d5d1b8422b5ca9d92e660297cff2b5dd75aba7f46cf474566cbb8661",
    parts: {
      description: "4dcfa1e37cc57d71",
      inputSchema: "f2465c753ed94f43",
      outputSchema: "74234e98afe7498f",
      annotations: "74234e98afe7498f",
      contract: "44136fa355b3678a",
    },
  };
  expect(changesSince(stored, search)).toEqual([]);
  expect(changesSince(stored, { ...search, description: "e" })).toEqual(["description"]);
  expect(changesSince(stored, { ...search, inputSchema: { type: "object" } })).toEqual(["inputSchema"]);
  expect(changesSince(stored, { ...search, sequential: true })).toEqual(["contract"]);
});
