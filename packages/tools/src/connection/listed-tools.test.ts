import { bareName } from "@planwright/plan";
import { expect, test } from "vitest";
import { parseServers } from "../config/load-servers-file.ts";
import { createToolReader, readListedTools } from "./listed-tools.ts";

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
  expect(read([tool])).toEqual({
    tools: [{ ...tool, server: "s" }],
    leftOut: [],
    leftOutCount: 0,
    warnings: [],
  });
});

test("a list that is the same as the one before is not read again", () => {
  const reader = createToolReader("s", config(), 10);
  const list = (name: string) => [{ name, inputSchema }];
  const first = reader(list("t"), false);
  expect(reader(list("t"), false)).toBe(first);
  expect(reader(list("t"), true)).toEqual(readListedTools("s", config(), list("t"), { isCut: true }));
  expect(reader(list("other"), false)).toEqual(read(list("other")));
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

const NAME = /^its name is not 1 to 128 printable characters/;
test.each<[string, unknown, string | null, RegExp]>([
  ["no object", 5, null, /^its entry in the list is not an object$/],
  ["no name", { inputSchema }, null, /^it has no name$/],
  ["an empty name", { name: "", inputSchema }, "", NAME],
  ["a blank at the end of its name", { name: "a b ", inputSchema }, "a b ", NAME],
  ["a line break in its name", { name: "a\nb", inputSchema }, "a b", NAME],
  ["an invisible character in its name", { name: "a\u200bb", inputSchema }, "ab", NAME],
  ["a blank that looks like another in its name", { name: "a\u00a0b", inputSchema }, "a b", NAME],
  ["half a character in its name", { name: "a\ud800b", inputSchema }, "a\ud800b", NAME],
  ["a name that is too long", { name: "a".repeat(999), inputSchema }, `${"a".repeat(125)}...`, NAME],
  [
    "a schema that is nested too deeply",
    { name: "t", inputSchema: deep(5_000) },
    "t",
    /deeper than 64 levels$/,
  ],
  ["no input schema", { name: "t" }, "t", /^it has no inputSchema$/],
  ["an input schema that is null", { name: "t", inputSchema: null }, "t", /inputSchema/],
  ["an input schema of a list", { name: "t", inputSchema: { type: ["array"] } }, "t", /inputSchema/],
  ["an input schema of an unknown type", { name: "t", inputSchema: { type: "thing" } }, "t", /inputSchema/],
  ["an output schema that is a list", { name: "t", inputSchema, outputSchema: [] }, "t", /outputSchema/],
  [
    "an input schema that is not of an object",
    { name: "t", inputSchema: { type: "string" } },
    "t",
    /inputSchema/,
  ],
  [
    "an output schema that is not a schema",
    { name: "t", inputSchema, outputSchema: "x" },
    "t",
    /outputSchema/,
  ],
  [
    "a descriptor that is too large",
    { name: "t", inputSchema: { ...inputSchema, title: "x".repeat(70_000) } },
    "t",
    /^its descriptor has 70\d{3} bytes; at most 65536 are accepted$/,
  ],
  [
    "an argument whose name MongoDB refuses",
    { name: "t", inputSchema: { ...inputSchema, properties: { _bsontype: { type: "string" } } } },
    "t",
    /^its descriptor has the field name "_bsontype", which cannot be stored$/,
  ],
  [
    "a NUL character in the name of an argument",
    { name: "t", inputSchema: { ...inputSchema, properties: { "a\0b": { type: "string" } } } },
    "t",
    /^its descriptor has the field name "a\\u0000b", which cannot be stored$/,
  ],
  ["the name of another one", { name: "good", inputSchema }, "good", /^its name is listed twice; the first/],
])("a tool with %s is left out with the reason, and the others are kept", (_what, bad, tool, reason) => {
  const { tools, leftOut, leftOutCount } = read([{ name: "good", inputSchema }, bad]);
  expect(tools.map(({ name }) => name)).toEqual(["good"]);
  expect(leftOut).toEqual([{ server: "s", tool, reason: expect.stringMatching(reason) }]);
  expect(leftOutCount).toBe(1);
});

test("what MongoDB would change is read in a form that it keeps: other executors compare the tool with that", () => {
  const properties = {
    // MongoDB would return it as a reference to a document.
    made: { $id: "https://example.org/made", $ref: "#/$defs/made" },
    $ref: { type: "string" },
    $id: { type: "string", description: "half \ud83d of a character" },
  };
  const schema = { ...inputSchema, properties, $defs: { made: { type: "string" } } };
  const { tools, leftOut } = read([
    {
      name: "t",
      inputSchema: schema,
      "half \ud83d": ["\ud83d"],
      title: "T\ud83d",
      description: "😀".repeat(3_000),
    },
  ]);
  expect(leftOut).toEqual([]);
  expect(tools).toEqual([
    {
      name: "t",
      server: "s",
      title: "T\ufffd",
      description: `${"😀".repeat(2_046)}...`,
      inputSchema: {
        ...schema,
        properties: {
          ...properties,
          made: { $ref: "#/$defs/made" },
          $id: { type: "string", description: "half \ufffd of a character" },
        },
      },
      "half \ufffd": ["\ufffd"],
    },
  ]);
});

test("tools after the most that a server may have are left out, and 100 of all left-out tools are named", () => {
  const listed = Array.from({ length: 250 }, (_, index) => ({ name: `t${index}`, inputSchema }));
  const { tools, leftOut, leftOutCount } = readListedTools("s", config(), listed, {
    maxTools: 10,
    isCut: true,
  });
  expect(tools).toHaveLength(10);
  expect(leftOut).toHaveLength(100);
  expect(leftOut[0]).toEqual({
    server: "s",
    tool: "t10",
    reason: "a server may have at most 10 tools, and it comes after them in the list",
  });
  expect(leftOutCount).toBe(241);
  expect(readListedTools("s", config(), [], { isCut: true }).leftOut).toEqual([
    { server: "s", tool: null, reason: "only the first 0 entries of the list are read" },
  ]);
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

test("of a tool that is listed twice the first one is used", () => {
  const { tools } = read([
    { name: "t", inputSchema, description: "first" },
    { name: "t", inputSchema, description: "second" },
  ]);
  expect(tools).toMatchObject([{ description: "first" }]);
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
