import { parsePlan, printPlan } from "@planwright/plan";
import { expect, test } from "vitest";
import dialects from "./data/dialects.json" with { type: "json" };

interface DialectCase {
  title: string;
  input: unknown;
  steps: object[];
  outputs?: string[];
}

test.each(dialects as DialectCase[])("parsePlan reads $title", ({ input, steps, outputs }) => {
  const before = JSON.stringify(input);
  const parsed = parsePlan(input);
  if (!parsed.ok) expect.fail(JSON.stringify(parsed.diagnostics));
  expect(parsed.plan.steps).toEqual(steps);
  expect(parsed.plan.outputs).toEqual(outputs);
  expect(JSON.stringify(input)).toBe(before);
  const again = parsePlan(printPlan(parsed.plan));
  expect(again).toEqual({ ...parsed, diagnostics: again.diagnostics });
});

test.each<[string, object, object]>([
  ["a reference object in a reference object", { q: { $ref: { $ref: "<<f.x>>" } } }, { q: "<<f.x>>" }],
  [
    "a reference object in a field for a path",
    { "q.$": { $ref: "<<f.x>>" }, n: { "r.$": "$.f.x" } },
    { q: "<<f.x>>", n: { r: "<<f.x>>" } },
  ],
  ["an escaped name in a word", { q: "file_\\${f} and \\${f}" }, { q: "file_${f} and ${f}" }],
])("%s is read once and for all", (_, args, expected) => {
  const steps = [
    { id: "f", tool: "find" },
    { id: "g", tool: "get", arguments: args },
  ];
  const parsed = parsePlan({ steps });
  if (!parsed.ok) expect.fail(JSON.stringify(parsed.diagnostics));
  expect(parsed.plan.steps[1]).toMatchObject({ arguments: expected });
  expect(parsePlan(printPlan(parsed.plan))).toMatchObject({ ok: true, plan: parsed.plan });
});

test("the number of a step in a status is its id, also beyond 2^53, and stays text where no step has it", () => {
  const plan = `{"steps": [
    {"id": 9007199254740993, "tool": "find"},
    {"id": "g", "tool": "get", "when": {"any": [{"status": [9007199254740993, "FAILED"]}, {"status": [77, "FAILED"]}]}}
  ]}`;
  const parsed = parsePlan(plan, { policy: { onUnresolvedStep: "keep" } });
  if (!parsed.ok) expect.fail(JSON.stringify(parsed.diagnostics));
  expect(parsed.plan.steps[1]?.when).toEqual({
    any: [{ status: ["s9007199254740993", "FAILED"] }, { status: ["77", "FAILED"] }],
  });
});

const WRITES = { name: "write" };
const READS = { name: "read", annotations: { readOnlyHint: true }, trusted: true };
const calls = (words: string) => words.split(" ").map((word) => word.split(":"));

/** Calls are `id:tool[:id that it reads]`; the result are the dependencies of the steps in plan order. */
test.each<[string, string, unknown, string[]]>([
  ["two effects, in their order", "a:write b:write", ["b", "a"], ["b", "a after b"]],
  [
    "an effect after a read, and a read after an effect",
    "a:read b:write c:read",
    ["a", "b", "c"],
    ["a", "b after a", "c after b"],
  ],
  ["reads side by side", "a:read b:read c:write", ["a", "b", "c"], ["a", "b", "c after a,b"]],
  [
    "effects of one group side by side",
    "a:write b:write c:write",
    [["a", "b"], ["c"]],
    ["a", "b", "c after a,b"],
  ],
  ["what an effect needs before it", "a:write:b b:write", ["a", "b"], ["a after b", "b"]],
  [
    "calls of one tool as often as it is named",
    "a:write b:read c:write",
    ["write", "read", "write"],
    ["a", "b after a", "c after a,b"],
  ],
  ["steps that it does not name free", "a:write b:write c:write", ["c"], ["c", "a", "b"]],
])("executionOrder keeps %s", (_, words, executionOrder, expected) => {
  const tools = calls(words).map(([id, tool, source]) => ({
    id,
    tool,
    arguments: source ? { of: `<<${source}.id>>` } : {},
  }));
  const parsed = parsePlan({ tools, executionOrder }, { tools: [WRITES, READS] });
  if (!parsed.ok) expect.fail(JSON.stringify(parsed.diagnostics));
  const shown = parsed.plan.steps.map(({ id, dependsOn }) => {
    const source = calls(words).find(([own]) => own === id)?.[2];
    const all = [...new Set([...(source ? [source] : []), ...dependsOn])].toSorted();
    return all.length > 0 ? `${id} after ${all.join(",")}` : id;
  });
  expect(shown).toEqual(expected);
});
