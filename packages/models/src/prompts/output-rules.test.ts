import { observeOutput, type ToolDescriptor } from "@planwright/plan";
import { expect, test } from "vitest";
import { toolLine } from "./describe-tools.ts";
import { draftMessages } from "./draft-messages.ts";
import { outputRules } from "./system-prompt.ts";

const outputSchema = { type: "object", properties: { id: { type: "string" } } };
const declared: ToolDescriptor = { name: "declared", outputSchema };
const unknown: ToolDescriptor = { name: "unknown" };
const shape = observeOutput(
  observeOutput(undefined, { data: { items: [{ id: 1, tag: "x" }] }, "a@test.com": "x", "b@test.com": "y" }),
  { data: { items: [{ id: 2 }] }, next: null },
);
const seen: ToolDescriptor = { name: "seen", observedOutput: shape };
const open: ToolDescriptor = { ...seen, outputSchema: { type: "object", additionalProperties: true } };

const systemText = (...tools: ToolDescriptor[]) => draftMessages({ query: "q", tools })[0]?.content ?? "";

test("a prompt whose tools all declare their outputs has no additional rule", () => {
  expect(outputRules([declared, { ...declared, name: "other" }])).toBe("");
  expect(systemText(declared, declared)).toBe(systemText());
});

test("the rules say what to do with unknown fields of an output, and explain observed fields", () => {
  expect(outputRules([declared, unknown])).toContain('refer to the whole output, "<<tool>>"');
  expect(outputRules([declared, unknown])).not.toContain("earlier runs");
  expect(outputRules([declared, seen])).toContain("earlier runs");
  expect(outputRules([declared, seen])).not.toContain("whole output");
  expect(outputRules([unknown, open]).split("\n")).toHaveLength(2);
  expect(systemText(declared, unknown)).toContain(outputRules([declared, unknown]));
});

test("one tool alone needs no rules, because no step refers to it", () => {
  expect(outputRules([unknown])).toBe("");
});

test("a tool's line shows the observed output, in the form of an output, without counts", () => {
  const half = observeOutput(undefined, { data: { items: [{ id: 1 }] }, next: null });
  const line: unknown = JSON.parse(toolLine({ name: "find", observedOutput: half }));
  expect(line).toMatchObject({ seen: { data: { items: [{ id: "integer" }] }, next: "null" } });
  expect(toolLine(seen)).not.toContain("x-seen");
});

test("keys that are data are shown as [key]", () => {
  const byDay = observeOutput(undefined, { "2026-05-12": { high: 20 } });
  const line: unknown = JSON.parse(toolLine({ name: "weather", observedOutput: byDay }));
  expect(line).toMatchObject({ seen: { "[key]": { high: "integer" } } });
});

test("fields that a schema declares are not shown twice", () => {
  expect(toolLine({ ...declared, observedOutput: shape })).not.toContain("seen");
  expect(JSON.parse(toolLine(open))).toMatchObject({ output: "object", seen: expect.anything() });
});
