import { isJsonObject, type JsonObject, type ToolDescriptor } from "@planwright/plan";
import { expect, test } from "vitest";
import { toolLine } from "./describe-tools.ts";
import { estimateTokens } from "./prompt-budget.ts";

const inputOf = (line: string): JsonObject => {
  const described: unknown = JSON.parse(line);
  const input = isJsonObject(described) ? described["input"] : undefined;
  return isJsonObject(input) ? input : {};
};
const fields = (count: number, schema: JsonObject): JsonObject => ({
  type: "object",
  required: ["field0", "field1"],
  properties: Object.fromEntries(Array.from({ length: count }, (_, index) => [`field${index}`, schema])),
});

test("a tool of usual size is described with all keywords that restrict values", () => {
  const schema = fields(3, { type: "string", enum: ["a", "b"], description: "One of two" });
  const description = '"a" | "b": One of two';
  expect(inputOf(toolLine({ name: "t", inputSchema: schema }))).toEqual({
    field0: description,
    field1: description,
    "field2?": description,
  });
});

test("deep schemas keep their upper levels", () => {
  const deep = fields(8, fields(8, fields(8, { type: "string", description: "x".repeat(100) })));
  const line = toolLine({ name: "t", inputSchema: deep });
  expect(line.length).toBeLessThan(4_000);
  expect(Object.keys(inputOf(line))).toHaveLength(8);
});

test("a tool with very many long fields is described by names and types of its required fields", () => {
  const long = { type: "string", enum: Array(60).fill("x".repeat(100)), description: "x".repeat(100) };
  const named = Object.fromEntries(
    Array.from({ length: 500 }, (_, index) => [`${"very".repeat(20)}${index}`, long]),
  );
  const inputSchema = { type: "object", required: ["name"], properties: { ...named, name: long } };
  expect(inputOf(toolLine({ name: "t", inputSchema }))).toEqual({ name: "string" });
});

test.each<[string, Partial<ToolDescriptor>, string | undefined]>([
  ["the tools before it", { depends_on: [{ tool: "login", required_fields: ["token"] }] }, "after login"],
  ["the most items of one call", { batch: { param: "ids", max: 50 } }, "batch 50"],
  ["one call at a time", { mode: "sequential-only" }, "alone"],
  ["a barrier, and what is before it", { sequential: true, dependencies: ["open"] }, "after open,alone"],
  ["nothing by default", {}, undefined],
  ["nothing of hints", { annotations: { destructiveHint: true } }, undefined],
  ["nothing that needs more than ten tokens", { dependsOn: ["a".repeat(40)], sequential: true }, "alone"],
])("the line of a tool says of its contract %s", (_, declared, run) => {
  const line = toolLine({ name: "t", ...declared });
  expect(JSON.parse(line)["run"]).toBe(run);
  expect(estimateTokens(line) - estimateTokens(toolLine({ name: "t" }))).toBeLessThanOrEqual(10);
});
