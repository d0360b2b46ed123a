import { DependencyCycleError } from "@planwright/plan";
import { expect, test } from "vitest";
import { createEngineState, decide, unitViews, waitReasonOf } from "../src/index.ts";
import { type Call, completed, failed, graph, planOf, simulate, tool, write } from "./simulate.ts";

const RING = graph({ a: ["c"], b: ["a"], c: ["b", "x"], x: [] });

test("a cycle is refused under onCycle error", () => {
  expect(() => createEngineState({ plan: planOf(RING), tools: [tool("t")] })).toThrow(DependencyCycleError);
});

test("break-fewest starts the step with the fewest unmet dependencies, first in the plan", () => {
  const run = simulate(planOf(RING, { onCycle: "break-fewest", maxParallel: 1 }), [tool("t")]);
  expect(run.finish?.status).toBe("COMPLETED");
  const order = run.calls.map(({ call }) => call.stepId);
  expect(order.indexOf("a")).toBeLessThan(order.indexOf("b"));
  expect(order.indexOf("b")).toBeLessThan(order.indexOf("c"));
});

test("run-together starts all steps of a cycle at once", () => {
  const run = simulate(planOf(RING, { onCycle: "run-together" }), [tool("t")]);
  expect(
    run.calls
      .filter(({ from }) => from === 0)
      .map(({ call }) => call.stepId)
      .toSorted(),
  ).toEqual(["a", "b", "x"]);
  expect(run.calls.find(({ call }) => call.stepId === "c")?.from).toBe(10);
});

test.each([
  ["error", { b: "FAILED" }, undefined],
  ["null", { b: "COMPLETED" }, { x: null }],
  ["keep", { b: "COMPLETED" }, { x: "<<a.gone>>" }],
] as const)("onMissingField %s: %o with arguments %o", (onMissingField, statuses, args) => {
  const plan = planOf(
    [
      { id: "a", tool: "t" },
      { id: "b", tool: "t", arguments: { x: "<<a.gone>>" } },
    ],
    {
      onMissingField,
    },
  );
  const run = simulate(plan, [tool("t")]);
  expect(run.statuses).toMatchObject(statuses);
  expect(run.calls[1]?.call.arguments).toEqual(args);
  if (onMissingField === "error") expect(run.records.get("b")?.error?.code).toBe("REFERENCE_MISSING");
  if (onMissingField === "keep") expect(run.records.get("b")?.warnings).toHaveLength(1);
});

test("null is checked again against the tool's input schema", () => {
  const inputSchema = { type: "object", properties: { x: { type: "string" } }, required: ["x"] };
  const plan = planOf(
    [
      { id: "a", tool: "t" },
      { id: "b", tool: "s", arguments: { x: "<<a.gone>>" } },
    ],
    {
      onMissingField: "null",
    },
  );
  const run = simulate(plan, [tool("t"), tool("s", {}, { inputSchema })]);
  expect(run.records.get("b")).toMatchObject({ status: "FAILED", error: { code: "ARGUMENTS_INVALID" } });
  expect(run.calls).toHaveLength(1);
});

test.each([
  ["error", "FAILED", "REFERENCE_UNRESOLVED"],
  ["keep", "COMPLETED", undefined],
] as const)(
  "onUnresolvedStep %s, after a failure under run-dependents: %s",
  (onUnresolvedStep, status, code) => {
    const plan = planOf(
      [
        { id: "a", tool: "t" },
        { id: "b", tool: "t", arguments: { x: "<<a.v>>" } },
      ],
      {
        onUnresolvedStep,
        onStepFailure: "run-dependents",
      },
    );
    const run = simulate(plan, [tool("t")], {
      outcome: ({ stepId }) => (stepId === "a" ? failed() : completed(1)),
    });
    expect(run.statuses["b"]).toBe(status);
    expect(run.records.get("b")?.error?.code).toBe(code);
  },
);

test("a step that reads a step skipped by its condition is skipped; a step that only comes after it runs", () => {
  const plan = planOf([
    { id: "a", tool: "t", when: { eq: [1, 2] } },
    { id: "reads", tool: "t", arguments: { x: "<<a.v>>" } },
    { id: "after", tool: "t", dependsOn: ["a"] },
  ]);
  const run = simulate(plan, [tool("t")]);
  expect(run.statuses).toEqual({ a: "SKIPPED", reads: "SKIPPED", after: "COMPLETED" });
  expect(run.records.get("reads")?.error?.message).toBe("Skipped because dependency 'a' was skipped");
  expect(run.finish?.status).toBe("COMPLETED");
});

test("a condition that cannot be evaluated fails its step", () => {
  const plan = planOf([{ id: "a", tool: "t", when: { lt: [{}, 1] } }]);
  expect(simulate(plan, [tool("t")]).records.get("a")?.error?.code).toBe("CONDITION_INVALID");
});

const TAKES_NAME = {
  inputSchema: { type: "object", properties: { name: { type: "string" }, age: { type: "number" } } },
};

test("mergeDependencyOutputs fills missing arguments that the tool accepts; explicit arguments win", () => {
  const plan = planOf(
    [
      { id: "a", tool: "t" },
      { id: "b", tool: "n", dependsOn: ["a"], arguments: { name: "mine" } },
    ],
    { mergeDependencyOutputs: true },
  );
  const run = simulate(plan, [tool("t"), tool("n", {}, TAKES_NAME)], {
    outcome: () => completed({ name: "theirs", age: 7, other: true }),
  });
  expect(run.calls[1]?.call.arguments).toEqual({ name: "mine", age: 7 });
});

test("mergeDependencyOutputs fills an argument called constructor like any other", () => {
  const steps = [
    { id: "a", tool: "t" },
    { id: "b", tool: "n", dependsOn: ["a"], arguments: {} },
  ];
  const schema = {
    type: "object",
    properties: { constructor: { type: "string" } },
    required: ["constructor"],
  };
  const run = simulate(planOf(steps, { mergeDependencyOutputs: true }), [tool("t"), tool("n", {}, schema)], {
    outcome: () => completed({ constructor: "Brunel" }),
  });
  expect(run.calls[1]?.call.arguments).toEqual({ constructor: "Brunel" });
});

test("navigation first starts marked tools at once; references still hold", () => {
  const steps = [
    { id: "a", tool: "t" },
    { id: "go", tool: "nav", dependsOn: ["a"] },
    { id: "goto", tool: "nav", arguments: { x: "<<a.ok>>" } },
  ];
  const tools = [tool("t"), tool("nav", { navigation: true })];
  const starts = (navigation: "first" | "honour-dependencies") =>
    simulate(planOf(steps, { navigation }), tools).calls.map(({ call, from }) => [call.stepId, from]);
  expect(starts("first")).toEqual([
    ["go", 0],
    ["a", 0],
    ["goto", 10],
  ]);
  expect(starts("honour-dependencies").find(([id]) => id === "go")).toEqual(["go", 10]);
});

test.each([
  ["sequential", 30],
  ["parallel", 10],
] as const)("unannotated tools are %s: three calls take %i", (unannotated, endedAt) => {
  const plan = planOf(graph({ a: [], b: [], c: [] }), { unannotated });
  expect(simulate(plan, [{ name: "t" }]).endedAt).toBe(endedAt);
});

test("contract dependencies order steps that the plan leaves free", () => {
  const tools = [tool("login"), tool("t", { mode: "dependent", depends_on: [{ tool: "login" }] })];
  const run = simulate(
    planOf([
      { id: "use", tool: "t" },
      { id: "first", tool: "login" },
    ]),
    tools,
  );
  expect(run.calls.map(({ call, from }) => [call.stepId, from])).toEqual([
    ["first", 0],
    ["use", 10],
  ]);
});

test("a step's timeout overrides the plan's, up to the maximum, and the contract limits both", () => {
  const plan = planOf(
    [
      { id: "a", tool: "t", timeoutMs: 500 },
      { id: "longer", tool: "t", timeoutMs: 5_000 },
      { id: "too-long", tool: "t", timeoutMs: 900_000 },
      { id: "b", tool: "c" },
    ],
    { stepTimeoutMs: 1_000 },
  );
  const run = simulate(plan, [tool("t"), tool("c", { timeout_ms: 200 })]);
  expect(run.calls.map(({ call }) => call.timeoutMs)).toEqual([500, 5_000, 600_000, 200]);
});

test("a reference by tool name means the only step of that tool", () => {
  const plan = planOf([
    { id: "a", tool: "make" },
    { id: "b", tool: "t", arguments: { x: "<<make.ok>>" } },
  ]);
  expect(simulate(plan, [tool("t"), tool("make")]).calls[1]?.call.arguments).toEqual({ x: true });
});

test("every unfinished step has a wait reason", () => {
  const steps = [
    ...graph({ run: [], limited: [], after: ["run"] }),
    { id: "ask", tool: "t2", approval: true },
    { id: "doubt", tool: "w" },
  ];
  const tools = [tool("t", { mode: "sequential-only" }), tool("t2"), write("w")];
  const state = createEngineState({
    plan: planOf(steps),
    tools,
    records: [{ key: "doubt", stepId: "doubt", status: "RUNNING", attempts: 1 }],
  });
  decide(state, { type: "started", at: 0 });
  const reasons = unitViews(state).map(({ key, waitReason }) => [key, waitReason]);
  expect(Object.fromEntries(reasons)).toEqual({
    run: undefined,
    limited: "limit",
    after: "dependency",
    ask: "approval",
    doubt: "in doubt",
  });
  expect(waitReasonOf(state, "nothing")).toBeUndefined();
  decide(state, { type: "pause", at: 1 });
  expect(waitReasonOf(state, "limited")).toBe("paused");
});

test("events that do not fit the state change nothing", () => {
  const state = createEngineState({ plan: planOf(graph({ a: [] })), tools: [tool("t")] });
  decide(state, { type: "started", at: 0 });
  const outcome = completed(1);
  const late = (call: Pick<Call, "key" | "attempt">) =>
    decide(state, { type: "attempt.ended", ...call, outcome, at: 1, random: 0 });
  expect(late({ key: "gone", attempt: 1 })).toEqual([]);
  expect(late({ key: "a", attempt: 2 })).toEqual([]);
  expect(decide(state, { type: "recorded", keys: ["a", "b"], at: 1 })).toEqual([]);
  expect(decide(state, { type: "approval", stepId: "a", approved: true, at: 1 })).toEqual([]);
  expect(decide(state, { type: "resolve", key: "a", resolution: { type: "retry" }, at: 1 })).toEqual([]);
  expect(decide(state, { type: "timer", at: 1 })).toEqual([]);
});

test("after a timer that fires too early another one is requested", () => {
  const state = createEngineState({ plan: planOf(graph({ a: [] })), tools: [tool("t")] });
  decide(state, { type: "started", at: 0 });
  const outcome = failed("none", { retryable: true, retryAfterMs: 1_000 });
  decide(state, { type: "attempt.ended", key: "a", attempt: 1, outcome, at: 10, random: 0 });
  decide(state, { type: "recorded", keys: ["a"], at: 11 });
  const again = decide(state, { type: "timer", at: 1_009 });
  expect(again).toContainEqual({ type: "timer", at: 1_010 });
  expect(decide(state, { type: "timer", at: 1_010 })).toContainEqual(
    expect.objectContaining({ type: "call" }),
  );
});
