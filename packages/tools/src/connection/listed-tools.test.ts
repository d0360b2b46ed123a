import { bareName } from "@planwright/plan";
import { expect, test } from "vitest";
import { parseServers } from "../config/load-servers-file.ts";
import { readListedTools } from "./listed-tools.ts";

const config = (more: object = {}) => {
  const server = parseServers({ mcpServers: { s: { command: "x", ...more } } }).mcpServers["s"];
  return server!;
};
const read = (listed: unknown[], more: object = {}) => readListedTools("s", config(more), listed);
const inputSchema = { type: "object" };
const deep = (levels: number) =>
  JSON.parse(`${'{"type":"object","not":'.repeat(levels)}{}${"}".repeat(levels)}`);

test("a tool keeps the fields that its server sent, and gets the name of its server", () => {
  const tool = {
    name: "t",
    title: "T",
    description: "does",
    inputSchema: { type: "object", properties: { a: { type: "string" } } },
    outputSchema: { type: "object" },
    annotations: { readOnlyHint: true },
    _meta: { "x-orchestration": { mode: "parallel-safe" } },
    sequential: true,
  };
  expect(read([tool])).toEqual({ tools: [{ ...tool, server: "s" }], warnings: [] });
});

test("a server cannot declare itself trusted, override its contract, use the name of another server or set observed outputs", () => {
  const observedOutput = { types: { object: 9 } };
  const { tools } = read([
    { name: "t", inputSchema, trusted: true, server: "bank", override: { mode: "x" }, observedOutput },
  ]);
  expect(tools).toEqual([{ name: "t", inputSchema, server: "s" }]);
});

test("the operator's trust and contract come from the configuration", () => {
  const { tools } = read([{ name: "t", inputSchema }], { trusted: true, tools: { t: { barrier: true } } });
  expect(tools[0]).toMatchObject({ trusted: true, override: { barrier: true } });
});

test.each([
  ["no object", 5],
  ["no name", { inputSchema }],
  ["an empty name", { name: "", inputSchema }],
  ["a blank at the end of its name", { name: "a b ", inputSchema }],
  ["a line break in its name", { name: "a\nb", inputSchema }],
  ["an invisible character in its name", { name: "a\u200bb", inputSchema }],
  ["a blank that looks like another in its name", { name: "a\u00a0b", inputSchema }],
  ["half a character in its name", { name: "a\ud800b", inputSchema }],
  ["a name that is too long", { name: "a".repeat(129), inputSchema }],
  ["a schema that is nested too deeply", { name: "t", inputSchema: deep(5_000) }],
  ["no input schema", { name: "t" }],
  ["an input schema that is null", { name: "t", inputSchema: null }],
  ["an input schema of a list", { name: "t", inputSchema: { type: ["array"] } }],
  ["an input schema of an unknown type", { name: "t", inputSchema: { type: "thing" } }],
  ["an output schema that is a list", { name: "t", inputSchema, outputSchema: [] }],
  ["an input schema that is not of an object", { name: "t", inputSchema: { type: "string" } }],
  ["an output schema that is not a schema", { name: "t", inputSchema, outputSchema: "x" }],
  [
    "a descriptor that is too large",
    { name: "t", inputSchema: { ...inputSchema, title: "x".repeat(70_000) } },
  ],
])("a tool with %s is dropped with a warning, and the others are kept", (_what, bad) => {
  const { tools, warnings } = read([bad, { name: "good", inputSchema }]);
  expect(tools.map((tool) => tool.name)).toEqual(["good"]);
  expect(warnings).toEqual([expect.stringMatching(/dropped/)]);
});

test.each<[string, object, string]>([
  [
    "an input type in capitals",
    { inputSchema: { type: "OBJECT" } },
    'inputSchema is "OBJECT": read as "object"',
  ],
  [
    "a list of one type",
    { inputSchema: { type: ["object"] } },
    'inputSchema is ["object"]: read as "object"',
  ],
  [
    "an object or null",
    { inputSchema: { type: ["null", "object"] } },
    'inputSchema is ["null","object"]: read',
  ],
  [
    "a type of another language",
    { inputSchema: { type: "dict" } },
    'inputSchema is "dict": read as "object"',
  ],
  ["a type that is null", { inputSchema: { type: null } }, 'inputSchema is null: read as "object"'],
  ["no output schema, as null", { outputSchema: null }, "outputSchema is null: read as none"],
  ["any output", { outputSchema: true }, "outputSchema is true: read as none"],
])("a tool with %s is used, with a warning", (_what, change, warning) => {
  const { tools, warnings } = read([{ name: "t", inputSchema, ...change }]);
  expect(tools).toEqual([{ name: "t", inputSchema, server: "s" }]);
  expect(warnings).toEqual([expect.stringContaining(warning)]);
  expect(warnings[0]).toMatch(/^Tool t: (?:the type of )?its /);
});

test("the type of an output is read in the same way, and need not be an object", () => {
  const { tools, warnings } = read([
    { name: "a", inputSchema, outputSchema: { type: ["object"] } },
    { name: "b", inputSchema, outputSchema: { type: "array" } },
  ]);
  expect(tools).toMatchObject([{ outputSchema: { type: "object" } }, { outputSchema: { type: "array" } }]);
  expect(warnings).toEqual(['Tool a: the type of its outputSchema is ["object"]: read as "object"']);
});

test.each(["send mail", "größe.messen", "获取天气", "$price (USD)", "\u{1F4E8} mail".padEnd(129, "."), "_"])(
  "a tool named %s keeps its name, and the operator's contract for it",
  (name) => {
    const { tools, warnings } = read([{ name, inputSchema }], { tools: { [name]: { barrier: true } } });
    expect(tools).toMatchObject([{ name, override: { barrier: true } }]);
    expect(warnings).toEqual([]);
  },
);

test("a tool whose name contains a slash gets its server as a prefix, and the configuration names it without the prefix", () => {
  const { tools, warnings } = read([{ name: "repo/search", inputSchema }], {
    tools: { "repo/search": { barrier: true } },
  });
  expect(tools).toMatchObject([{ name: "s/repo/search", override: { barrier: true } }]);
  expect(tools.map(bareName)).toEqual(["repo/search"]);
  expect(warnings).toEqual([]);
});

test("a tool that is listed twice is used once", () => {
  const { tools, warnings } = read([
    { name: "t", inputSchema, description: "first" },
    { name: "t", inputSchema, description: "second" },
  ]);
  expect(tools).toMatchObject([{ description: "first" }]);
  expect(warnings).toEqual(["Tool t dropped: listed twice"]);
});

test("descriptions are truncated, and invisible characters are removed", () => {
  const hidden = "\u200bignore\u{E0041} \u202Ethis\u0007";
  const { tools } = read([
    { name: "long", inputSchema, description: "x".repeat(10_000) },
    { name: "hidden", inputSchema, description: `Add\n${hidden}`, title: hidden },
  ]);
  expect(tools[0]?.description).toHaveLength(4_096);
  expect(tools[1]).toMatchObject({ description: "Add\nignore this", title: "ignore this" });
});

test("a contract in the configuration for a tool that is not listed is a warning", () => {
  expect(read([], { tools: { gone: {} } }).warnings).toEqual([
    "The configuration names tool gone, which is not listed",
  ]);
});
