import type { JsonObject, JsonValue } from "@planwright/plan";
import { expect, test } from "vitest";
import { type Outcome, type StepRecord, stepAdvice } from "../src/index.ts";
import { type Call, completed, failed, planOf, simulate, tool, write } from "./simulate.ts";

const list = (forEach: JsonObject) => ({
  id: "f",
  forEach: { items: [1, 2, 3], do: { tool: "t", arguments: { x: "<<item>>" } }, ...forEach },
});
const after = { id: "after", tool: "t", dependsOn: ["f"] };
const failingAt =
  (...bad: JsonValue[]) =>
  (call: Call) =>
    bad.includes(call.arguments["x"] ?? null) ? failed() : completed(call.arguments["x"] ?? null);

const itemsOf = (run: ReturnType<typeof simulate>) =>
  [...run.records.values()].filter(({ item }) => item !== undefined).map(({ status }) => status);

test.each([
  ["a tool with side effects stops", write("t"), "FAILED", ["COMPLETED", "FAILED", "SKIPPED"]],
  ["a read collects", tool("t"), "COMPLETED", ["COMPLETED", "FAILED", "COMPLETED"]],
  [
    "a write that declares partial-success collects",
    write("t", { error_propagation: "partial-success" }),
    "COMPLETED",
    ["COMPLETED", "FAILED", "COMPLETED"],
  ],
  [
    "a read that declares fail-fast stops",
    tool("t", { error_propagation: "fail-fast" }),
    "FAILED",
    ["COMPLETED", "FAILED", "SKIPPED"],
  ],
] as const)("a list without errors follows its tool's contract: %s", (_, one, step, items) => {
  const run = simulate(planOf([list({ concurrency: 1 })]), [one], { outcome: failingAt(2) });
  expect(run.statuses["f"]).toBe(step);
  expect(itemsOf(run)).toEqual(items);
});

test("errors of the plan overrides the contract", () => {
  const outcome = failingAt(1);
  const collected = simulate(planOf([list({ errors: "collect" })]), [write("t")], { outcome });
  expect(itemsOf(collected)).toEqual(["FAILED", "COMPLETED", "COMPLETED"]);
  const stopped = simulate(planOf([list({ errors: "stop", concurrency: 1 })]), [tool("t")], { outcome });
  expect(itemsOf(stopped)).toEqual(["FAILED", "SKIPPED", "SKIPPED"]);
});

test("a list that stops lets running calls end and records them", () => {
  const run = simulate(planOf([list({ items: [1, 2, 3, 4], concurrency: 2 })]), [write("t")], {
    outcome: failingAt(1),
    durationMs: ({ arguments: { x } }) => (x === 2 ? 50 : 10),
  });
  expect(itemsOf(run)).toEqual(["FAILED", "COMPLETED", "SKIPPED", "SKIPPED"]);
  expect(run.finish?.status).toBe("FAILED");
});

test("when a list will certainly fail, nothing else of a fail-fast plan starts", () => {
  const plan = planOf(
    [
      list({ items: [1, 2], concurrency: 2 }),
      { id: "first", tool: "t" },
      { id: "second", tool: "t", dependsOn: ["first"] },
    ],
    { onStepFailure: "fail-fast" },
  );
  const run = simulate(plan, [write("t")], {
    outcome: failingAt(1),
    durationMs: ({ stepId, arguments: { x } }) => (x === 2 ? 100 : stepId === "first" ? 20 : 10),
  });
  expect(run.statuses).toMatchObject({ f: "FAILED", first: "COMPLETED", second: "SKIPPED" });
});

test.each<[string, (call: Call) => Outcome, JsonObject]>([
  ["three of three writes that collect", failingAt(1, 2, 3), { errors: "collect" }],
  ["one of three writes that stop", failingAt(3), {}],
])("%s fail: step and plan are FAILED, and the dependent write never runs", (_, outcome, more) => {
  const run = simulate(planOf([list(more), after]), [write("t")], { outcome });
  expect(run.statuses).toMatchObject({ f: "FAILED", after: "SKIPPED" });
  expect(run.finish?.status).toBe("FAILED");
  expect(run.calls.map(({ call }) => call.stepId)).not.toContain("after");
});

test("dependents of a failed list run when the policy lets them", () => {
  const policy = { onStepFailure: "run-dependents" } as const;
  const run = simulate(planOf([list({}), after], policy), [write("t")], { outcome: failingAt(1, 2, 3) });
  expect(run.statuses).toMatchObject({ f: "FAILED", after: "COMPLETED" });
});

test("failed items above minSuccess: the step is COMPLETED, its dependents run, the plan is PARTIAL and names them", () => {
  const steps = [list({ items: ["a", "b", "c"], key: "<<item>>", errors: "collect" }), after];
  const run = simulate(planOf(steps), [write("t")], { outcome: failingAt("b") });
  expect(run.statuses).toMatchObject({ f: "COMPLETED", after: "COMPLETED" });
  expect(run.finish).toMatchObject({
    status: "PARTIAL",
    error: {
      code: "ITEMS_FAILED",
      message: "1 of 3 items of step 'f' failed: item 1 (b): it broke",
      data: { stepId: "f", ok: 2, error: 1 },
    },
  });
  expect(stepAdvice("ITEMS_FAILED").action).toBe("retry");
});

test("the error of a PARTIAL plan lists a few failed items and counts the rest", () => {
  const items = Array.from({ length: 20 }, (_, index) => index);
  const bad = items.slice(4, 14);
  const run = simulate(planOf([list({ items })]), [tool("t")], { outcome: failingAt(...bad) });
  expect(run.finish?.error?.message).toBe(
    "10 of 20 items of step 'f' failed: item 4: it broke; item 5: it broke; item 6: it broke; item 7: it broke; item 8: it broke; and 5 more",
  );
});

test("when a step and items failed, the plan's error is that of the step", () => {
  const plan = planOf([list({}), { id: "bad", tool: "t", arguments: { x: 1 } }]);
  const run = simulate(plan, [tool("t")], { outcome: failingAt(1) });
  expect(run.finish).toMatchObject({ status: "PARTIAL", error: { data: { stepId: "bad" } } });
});

test.each<[JsonObject, string]>([
  [{}, "FAILED"],
  [{ minSuccess: 0 }, "COMPLETED"],
  [{ items: [] }, "COMPLETED"],
])("with no success and %j the step is %s: one is needed, but not by an empty list", (more, status) => {
  const run = simulate(planOf([list(more)]), [tool("t")], { outcome: failingAt(1, 2, 3) });
  expect(run.statuses["f"]).toBe(status);
});

test("a plan that continues after a crash, or with a list of an earlier version, is also PARTIAL", () => {
  const entry = { index: 0, key: "0", status: "error", error: { code: "X", message: "it broke" } };
  const output = {
    results: [entry, { index: 1, key: "1", status: "ok", data: 2 }],
    summary: { ok: 1, error: 1 },
  };
  const records: StepRecord[] = [{ key: "f", stepId: "f", status: "COMPLETED", attempts: 0, output }];
  const run = simulate(planOf([list({ items: [1, 2] }), after]), [tool("t")], { records });
  expect(run.calls.map(({ call }) => call.key)).toEqual(["after"]);
  expect(run.finish).toMatchObject({
    status: "PARTIAL",
    error: { message: expect.stringContaining("item 0") },
  });
});

test("a plan that continues after a crash starts no further items of a list that stops", () => {
  const records: StepRecord[] = [
    { key: "f", stepId: "f", status: "RUNNING", attempts: 0 },
    { key: "f[0]", stepId: "f", item: 0, status: "FAILED", attempts: 1, error: failedError },
    { key: "f[1]", stepId: "f", item: 1, status: "PENDING", attempts: 0 },
    { key: "f[2]", stepId: "f", item: 2, status: "PENDING", attempts: 0 },
  ];
  const run = simulate(planOf([list({})]), [write("t")], { records });
  expect(run.calls).toEqual([]);
  expect(run.statuses["f"]).toBe("FAILED");
});

const failedError = { code: "TOOL_FAILED", message: "it broke", retryable: false };

test("a list that collects waits for an operator only when its items in doubt decide whether it failed", () => {
  const steps = [list({ items: [1], errors: "collect" })];
  const outcome = () => failed("unknown");
  expect(simulate(planOf(steps), [write("t")], { outcome }).park?.reason).toBe("in doubt");
  const settled = simulate(planOf(steps), [write("t")], {
    outcome,
    events: [{ type: "resolve", key: "f[0]", resolution: { type: "completed", output: 1 }, at: 100 }],
  });
  expect(settled.finish?.status).toBe("COMPLETED");
});

test("the waits between attempts grow as the tool's contract says, even when the plan sets their bounds", () => {
  const backoff = { max_attempts: 4, initial_ms: 100, strategy: "linear" };
  const startsOf = (step: JsonObject, strategy: string) => {
    const one = tool("t", { backoff: { ...backoff, strategy } });
    const plan = planOf([{ id: "s", tool: "t", ...step }]);
    const run = simulate(plan, [one], {
      outcome: () => failed("none", { retryable: true }),
      durationMs: () => 0,
    });
    return run.calls.map(({ from }) => from);
  };
  expect(startsOf({}, "fixed")).toEqual([0, 50, 100, 150]);
  expect(startsOf({}, "linear")).toEqual([0, 50, 150, 300]);
  expect(startsOf({}, "exponential")).toEqual([0, 50, 150, 350]);
  const retry = { maxAttempts: 3, initialMs: 1_000, maxMs: 9_000 };
  expect(startsOf({ retry }, "linear")).toEqual([0, 500, 1_500]);
});

test("a list with items carried over from an earlier version waits for its dependencies and its approval", () => {
  const records: StepRecord[] = [
    {
      key: "f[0]",
      stepId: "f",
      item: 0,
      status: "COMPLETED",
      attempts: 1,
      output: "kept",
      carriedFrom: { planId: "plan_1", key: "f[0]" },
    },
  ];
  const steps = [
    { id: "first", tool: "t" },
    { ...list({ items: [1, 2] }), dependsOn: ["first"] },
  ];
  const run = simulate(planOf(steps), [tool("t")], { records });
  expect(run.calls.map(({ call }) => call.key)).toEqual(["first", "f[1]"]);
  expect(run.calls[1]?.from).toBe(run.calls[0]?.to);
  const asking = [{ ...list({ items: [1, 2] }), approval: true }];
  const waiting = simulate(planOf(asking), [tool("t")], { records });
  expect(waiting.calls).toEqual([]);
  expect(waiting.records.get("f")).toMatchObject({
    status: "WAITING_APPROVAL",
    arguments: { calls: { "f[1]": { x: 2 } } },
  });
});

test.each([
  ["fail-fast", "FAILED"],
  ["fail-forward", "FAILED"],
] as const)(
  "a list that was closed with its plan (%s) before a crash is CANCELLED after it, not COMPLETED",
  (onStepFailure, status) => {
    const skipped = { code: "PLAN_FAILED", message: "m", retryable: false };
    const records: StepRecord[] = [
      { key: "bad", stepId: "bad", status: "FAILED", attempts: 1, error: failedError },
      { key: "f", stepId: "f", status: "RUNNING", attempts: 0 },
      { key: "f[0]", stepId: "f", item: 0, status: "SKIPPED", attempts: 0, error: skipped },
      { key: "f[1]", stepId: "f", item: 1, status: "SKIPPED", attempts: 0, error: skipped },
    ];
    const steps = [{ id: "bad", tool: "t" }, list({ items: [1, 2], minSuccess: 0 })];
    const run = simulate(planOf(steps, { onStepFailure }), [tool("t")], { records });
    expect(run.statuses["f"]).toBe("CANCELLED");
    expect(run.finish?.status).toBe(status);
  },
);
