import {
  contractReport,
  observeOutput,
  schemaOfShape,
  type ToolDescriptor,
  toolContract,
} from "@planwright/plan";
import { expect, test } from "vitest";
import type { ExplainedTool } from "../operations.ts";
import { contractProblems, toolsTable } from "./tables.ts";
import { toolText } from "./tool-text.ts";

const tool: ExplainedTool = {
  name: "findTickets",
  server: "tracker",
  title: null,
  description: "Finds tickets.",
  category: "tracker",
  inputSchema: { type: "object" },
  outputSchema: null,
  observedOutput: null,
  annotations: null,
  contract: {},
  contractReport: { fields: [], problems: [] },
  listedAt: null,
  disconnectedSince: null,
  calls: {
    since: "2026-11-23T10:00:00.000Z",
    count: 0,
    failures: 0,
    p50Ms: null,
    p99Ms: null,
    lastAt: null,
    errors: [],
  },
};
const NOW = Date.parse("2026-11-24T10:20:00.000Z");
const seen = observeOutput(
  observeOutput(undefined, { tickets: [{ id: 1, title: "Tea", owner: { name: "Ann" } }], next: null }),
  { tickets: [{ id: 2, title: "Tea" }] },
);
const textOf = (more: Partial<ExplainedTool>) =>
  toolText({ ...tool, ...more }, { style: (_, text) => text, nowMs: NOW });

test("a tool shows the fields that runs have shown, and in how many", () => {
  expect(textOf({ observedOutput: { outputs: 2, schema: schemaOfShape(seen) } }).slice(5)).toEqual([
    "",
    "Output, as seen in 2 runs",
    "  tickets  array",
    "    [each]  object",
    "      id  integer",
    "      title  string",
    "      owner?  object",
    "        name  string",
    "  next?  null",
  ]);
});

test("a tool that never ran shows no observed output", () => {
  expect(textOf({}).join("\n")).not.toContain("seen");
});

test("field names from a tool cannot control the terminal", () => {
  const schema = { type: "object", properties: { "a\u001b[2Jb": { type: "string" } } };
  expect(textOf({ observedOutput: { outputs: 1, schema } }).join("\n")).not.toContain("\u001b");
});

test("each field of the contract shows its source, and unreadable fields are listed", () => {
  const { fields } = contractReport({ name: "t", server: "shop", annotations: { readOnlyHint: true } });
  const shown = textOf({
    contractReport: { fields: fields.slice(0, 2), problems: ["mode is \u001b[2Jbad"] },
  });
  expect(shown.slice(-4)).toEqual([
    "Contract",
    '  mode       "parallel-safe"  readOnlyHint of server shop, believed',
    "  dependsOn  []               default",
    expect.stringMatching(/^ {2}not read: mode is .*bad$/),
  ]);
  expect(shown.join("\n")).not.toContain("\u001b");
});

test("a tool shows when its server listed it, and how its calls ended", () => {
  const calls = {
    ...tool.calls,
    count: 120,
    failures: 3,
    p50Ms: 108,
    p99Ms: 9_742,
    lastAt: "2026-11-24T10:19:58.000Z",
    errors: [
      { code: "TOOL_FAILED", count: 2 },
      { code: "TOOL_TIMEOUT", count: 1 },
    ],
  };
  expect(textOf({ calls, listedAt: "2026-11-24T10:15:00.000Z" }).slice(2)).toEqual([
    "",
    "Lately",
    "  listed by its server 5 min 0 s ago",
    "  120 calls of yours in the last 24 hours, the last 2.0 s ago",
    "  3 failed (2 %): TOOL_FAILED 2, TOOL_TIMEOUT 1",
    "  half within 108 ms, 99 in 100 within 9.7 s",
  ]);
});

test("a lost server is shown first, and a tool that was not called says so", () => {
  expect(textOf({ disconnectedSince: "2026-11-24T10:19:00.000Z" }).slice(2)).toEqual([
    "",
    "Lately",
    "  its server is not connected; the connection was lost 1 min 0 s ago",
    "  no call of yours in the last 24 hours",
  ]);
});

test.each<[string, string, Omit<ToolDescriptor, "name">]>([
  ["acts", "default", {}],
  ["reads", "server's hint", { annotations: { readOnlyHint: true } }],
  ["acts", "default, hint ignored", { annotations: { readOnlyHint: true }, trusted: false }],
  ["acts", "server's hint", { annotations: { readOnlyHint: false } }],
  ["acts once", "operator", { override: { idempotency: "key" } }],
  ["acts once", "server", { idempotency: "key", trusted: true }],
])("in the list a tool %s, and its source is: %s", (effect, source, more) => {
  const descriptor: ToolDescriptor = { name: "t", server: "shop", ...more };
  const listed = {
    ...tool,
    annotations: descriptor.annotations ?? null,
    contract: toolContract(descriptor).contract,
    contractReport: contractReport(descriptor),
  };
  const [head = "", row = ""] = toolsTable([listed as unknown as ExplainedTool], 100, (_, text) => text);
  expect(head).toMatch(/^ *TOOL +SERVER +EFFECT +BY +DESCRIPTION$/);
  expect(row.split(/ {2,}/).slice(-3)).toEqual([effect, source, "Finds tickets."]);
});

test("a list of tools names the contracts that are not used, the first 20 of them", () => {
  const problem =
    "reviewed contract of tracker-mcp 1.2.3: its input schema differs from the reviewed one: ignored";
  const withProblem = { ...tool, contractReport: { fields: [], problems: [problem] } };
  const lines = (tools: ExplainedTool[]) => contractProblems(tools, (_, text) => text);
  expect(lines([tool])).toEqual([]);
  expect(lines([tool, withProblem])).toEqual([
    "",
    "Contracts that are not used",
    `  findTickets  ${problem}`,
  ]);
  expect(lines(Array.from({ length: 22 }, () => withProblem)).at(-1)).toBe("  and 2 more");
});

test("arguments show the fields of inner objects and of list elements, and their bounds", () => {
  const line = {
    type: "object",
    properties: {
      sku: { type: "string", minLength: 3 },
      quantity: { type: "integer", minimum: 1, maximum: 99 },
    },
    required: ["sku"],
  };
  const inputSchema = {
    type: "object",
    properties: {
      lines: { type: "array", items: line, minItems: 1 },
      to: { type: "object", properties: { city: { type: "string", description: "Where to" } } },
      tags: { type: "array", items: { type: "string" } },
      count: { type: "integer", minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER },
    },
    required: ["lines"],
  };
  const shown = textOf({ inputSchema });
  expect(shown.slice(shown.indexOf("Arguments") + 1)).toEqual([
    "  lines  array, elements at least 1, required",
    "    [each]  object",
    "      sku       string, characters at least 3, required",
    "      quantity  integer, at least 1, at most 99",
    "  to     object",
    "    city  string  Where to",
    "  tags   array",
    "    [each]  string",
    "  count  integer",
  ]);
});

test.each<[string, string, Omit<ToolDescriptor, "name">]>([
  ["U  acts: nothing tells", '(idempotency "none": default', {}],
  [
    "R  reads",
    '(idempotency "natural": readOnlyHint of server shop, believed',
    { annotations: { readOnlyHint: true } },
  ],
  ["R  reads", "(sideEffects false: ", { override: { side_effects: false } }],
  ["K  acts once", '(idempotency "key": ', { override: { idempotency: "key" } }],
  ["V  acts: its lookup", "(lookup ", { override: { lookup: { tool: "find", arguments: {} } } }],
])("the class of the effect has its letter and its reason: %s %s", (effect, why, more) => {
  const descriptor: ToolDescriptor = { name: "t", server: "shop", ...more };
  const shown = textOf({
    contract: JSON.parse(JSON.stringify(toolContract(descriptor).contract)),
    contractReport: contractReport(descriptor),
  });
  const line = shown[shown.indexOf("Effect") + 1] ?? "";
  expect(line).toContain(effect);
  expect(line).toContain(why);
});
