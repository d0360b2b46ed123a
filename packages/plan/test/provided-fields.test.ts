import { type ParsePlanOptions, parsePlan, type ToolDescriptor } from "@planwright/plan";
import { expect, test } from "vitest";

const TOKEN = { type: "object", properties: { token: { type: "string" } }, required: ["token"] };
const TOOLS: ToolDescriptor[] = [
  { name: "login" },
  { name: "open", provides: ["page"], sequential: false },
  { name: "fetch", inputSchema: TOKEN },
  { name: "look", inputSchema: { type: "object", required: ["page"] } },
];
const orchestrator: ParsePlanOptions = { tools: TOOLS, policy: { profile: "orchestrator" } };

function dependenciesIn(input: unknown, options: ParsePlanOptions = {}) {
  const parsed = parsePlan(input, options);
  if (!parsed.ok) expect.fail(JSON.stringify(parsed.diagnostics));
  return Object.fromEntries(parsed.plan.steps.map(({ id, dependsOn }) => [id, dependsOn]));
}

test.each([
  ["next to the call", { name: "login", arguments: {}, provides: ["token"] }],
  ["as a single name", { name: "login", arguments: {}, provides: "token" }],
  [
    "inside function",
    { type: "function", function: { name: "login", arguments: "{}", provides: ["token"] } },
  ],
])("a dependency may name a field that a call provides, %s", (_, login) => {
  for (const field of ["dependencies", "depends_on", "dependsOn"]) {
    const input = [{ name: "fetch", arguments: {}, [field]: ["token"] }, login];
    expect(dependenciesIn(input)).toEqual({ fetch: ["login"], login: [] });
    const nested = [{ function: { name: "fetch", arguments: {}, [field]: ["token"] } }, login];
    expect(dependenciesIn(nested)).toEqual({ fetch: ["login"], login: [] });
  }
});

test("steps and tools win over provided fields, and a call does not wait for a field that it provides itself", () => {
  const input = [
    { id: "token", tool: "login" },
    { id: "b", tool: "fetch", provides: ["token", "own"], dependencies: ["token"] },
    { id: "c", tool: "look", provides: ["own"], dependencies: ["own"] },
  ];
  expect(dependenciesIn(input)).toEqual({ token: [], b: ["token"], c: ["b"] });
});

test("a call that needs a field which another call provides depends on it", () => {
  const input = [
    { name: "fetch", arguments: {} },
    { name: "login", arguments: {}, provides: ["token"] },
    { name: "open", arguments: {} },
    { name: "look", arguments: {} },
  ];
  expect(dependenciesIn(input, orchestrator)).toEqual({
    fetch: ["login"],
    login: [],
    open: [],
    look: ["open"],
  });
  const parsed = parsePlan(input, orchestrator);
  expect(parsed.diagnostics.map(({ code, severity, stepId }) => [code, severity, stepId])).toEqual([
    ["DEPENDENCY_ADDED", "warning", "fetch"],
    ["DEPENDENCY_ADDED", "warning", "look"],
  ]);
});

test("a field that is given, referenced or already depended on needs no other provider", () => {
  const login = (id: string) => ({ id, name: "login", provides: ["token"] });
  const input = [
    login("one"),
    { id: "given", name: "fetch", arguments: { token: "T" } },
    { id: "named", name: "fetch", dependencies: ["two"] },
    { id: "earlier", name: "fetch" },
    login("two"),
  ];
  expect(dependenciesIn(input, orchestrator)).toEqual({
    one: [],
    given: [],
    named: ["two"],
    earlier: ["one"],
    two: [],
  });
});

test("when outputs of dependencies fill no arguments, a missing argument stays an error", () => {
  const input = [{ name: "login", provides: ["token"] }, { name: "fetch" }];
  expect(parsePlan(input, { tools: TOOLS }).diagnostics.map(({ code }) => code)).toEqual([
    "ARGUMENT_MISSING",
  ]);
});

test.each([5, [5], { a: 1 }])("provides %j is invalid", (provides) => {
  const { diagnostics } = parsePlan([{ name: "login", provides }]);
  expect(diagnostics.map(({ code, path }) => [code, path])).toEqual([["FIELD_INVALID", "steps[0].provides"]]);
});

test("with a policy that keeps unresolved references, they stay in their written notation", () => {
  const arguments_ = { a: "{{find.id}}", b: "Dear $ref:find.name!", c: "<<find.id>>", d: "{{ search.id }}" };
  const input = [
    { id: "find", tool: "search" },
    { id: "use", tool: "send", arguments: arguments_ },
  ];
  const kept = parsePlan(input, { policy: { profile: "tool-chaining" } });
  const canonical = parsePlan(input);
  if (!kept.ok || !canonical.ok) expect.fail("refused");
  expect(kept.plan.steps[1]).toMatchObject({ arguments: { ...arguments_, d: "<<find.id>>" } });
  expect(canonical.plan.steps[1]).toMatchObject({
    arguments: { a: "<<find.id>>", b: "Dear <<find.name>>!", c: "<<find.id>>", d: "<<find.id>>" },
  });
});
