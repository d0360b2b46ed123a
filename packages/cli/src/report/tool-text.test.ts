import { contractReport, observeOutput, schemaOfShape } from "@planwright/plan";
import { expect, test } from "vitest";
import type { ExplainedTool } from "../api/tools.ts";
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
};
const seen = observeOutput(
  observeOutput(undefined, { tickets: [{ id: 1, title: "Tea", owner: { name: "Ann" } }], next: null }),
  { tickets: [{ id: 2, title: "Tea" }] },
);
const textOf = (more: Partial<ExplainedTool>) => toolText({ ...tool, ...more }, (_, text) => text);

test("a tool shows the fields that runs have shown, and in how many", () => {
  expect(textOf({ observedOutput: { outputs: 2, schema: schemaOfShape(seen) } }).slice(2)).toEqual([
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

test("one that was never run says nothing of it", () => {
  expect(textOf({}).join("\n")).not.toContain("seen");
});

test("names of strangers cannot write on the terminal", () => {
  const schema = { type: "object", properties: { "a\u001b[2Jb": { type: "string" } } };
  expect(textOf({ observedOutput: { outputs: 1, schema } }).join("\n")).not.toContain("\u001b");
});

test("each field of the contract says where it comes from, and what cannot be read is told", () => {
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
