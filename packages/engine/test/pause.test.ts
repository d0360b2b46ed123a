import { expect, test } from "vitest";
import type { EngineEvent, StepRecord } from "../src/index.ts";
import { completed, failed, graph, planOf, simulate, tool, write } from "./simulate.ts";

const pause = (at: number): EngineEvent => ({ type: "pause", at });
const resume = (at: number): EngineEvent => ({ type: "resume", at });
/** Arrives before `started`, as after a crash of a paused plan. */
const PAUSED_FROM_THE_START = [pause(-1)];

test("a plan that is paused before it starts starts nothing until it is resumed", () => {
  const plan = planOf(graph({ a: [], b: [], c: ["a"] }));
  const paused = simulate(plan, [tool("t")], { events: PAUSED_FROM_THE_START });
  expect(paused.park).toEqual({ type: "park", status: "PAUSED", reason: "paused" });
  const resumed = simulate(plan, [tool("t")], { events: [pause(-1), resume(50)] });
  expect(Math.min(...resumed.calls.map(({ from }) => from))).toBe(50);
  expect(resumed.finish?.status).toBe("COMPLETED");
});

test.each([
  ["R", tool("t")],
  ["K", write("t", { idempotency: "key" })],
  ["V", write("t", { lookup: { tool: "find", arguments: {} } })],
])("a lost call of class %s is not repeated while the plan is paused", (effectClass, lost) => {
  const plan = planOf([{ id: "a", tool: "t" }]);
  const records: StepRecord[] = [{ key: "a", stepId: "a", status: "RUNNING", attempts: 1 }];
  const paused = simulate(plan, [lost, tool("find")], { records, events: PAUSED_FROM_THE_START });
  expect(paused.calls).toEqual([]);
  expect(paused.park).toEqual({ type: "park", status: "PAUSED", reason: "paused" });
  const resumed = simulate(plan, [lost, tool("find")], { records, events: [pause(-1), resume(50)] });
  expect(resumed.calls.map(({ from, call }) => [from, call.attempt, call.verify === true])).toEqual([
    [50, 2, effectClass === "V"],
  ]);
  expect(resumed.finish?.status).toBe("COMPLETED");
});

test("a retry that is due during a pause waits for the resume", () => {
  let isFirst = true;
  const run = simulate(planOf([{ id: "a", tool: "t" }]), [tool("t")], {
    outcome: () => {
      const outcome = isFirst ? failed("reported", { retryable: true }) : completed(1);
      isFirst = false;
      return outcome;
    },
    events: [pause(5), resume(5_000)],
  });
  expect(run.calls.map(({ from }) => from)).toEqual([0, 5_000]);
});

test("a lost call of a paused plan is looked up after the pause, and the call is then repeated", () => {
  const answers = [failed("unknown"), failed("none", { retryable: true }), completed(1)];
  const run = simulate(
    planOf([{ id: "a", tool: "v" }]),
    [write("v", { lookup: { tool: "find", arguments: {} } }), tool("find")],
    {
      outcome: () => answers.shift() ?? completed(0),
      events: [pause(5), resume(100), pause(105), resume(200)],
    },
  );
  expect(run.calls.map(({ from, call }) => [from, call.verify === true])).toEqual([
    [0, false],
    [100, true],
    [200, false],
  ]);
  expect(run.finish?.status).toBe("COMPLETED");
});

test("a list that stops at its first failure keeps a lost item while the plan is paused", () => {
  const plan = planOf([
    {
      id: "each",
      forEach: { items: [1, 2, 3], errors: "stop", do: { tool: "k", arguments: { x: "<<item>>" } } },
    },
  ]);
  const error = { code: "X", message: "x", retryable: false };
  const records: StepRecord[] = [
    { key: "each", stepId: "each", status: "RUNNING", attempts: 0 },
    { key: "each[0]", stepId: "each", item: 0, status: "FAILED", attempts: 1, error },
    { key: "each[1]", stepId: "each", item: 1, status: "RUNNING", attempts: 1 },
    { key: "each[2]", stepId: "each", item: 2, status: "PENDING", attempts: 0 },
  ];
  const tools = [write("k", { idempotency: "key" })];
  const paused = simulate(plan, tools, { records, events: PAUSED_FROM_THE_START });
  expect(paused.records.get("each[1]")?.status).toBe("RUNNING");
  const resumed = simulate(plan, tools, { records, events: [pause(-1), resume(50)] });
  expect(resumed.calls.map(({ call }) => call.key)).toEqual(["each[1]"]);
  expect(["each[0]", "each[1]", "each[2]"].map((key) => resumed.records.get(key)?.status)).toEqual([
    "FAILED",
    "COMPLETED",
    "SKIPPED",
  ]);
});

test("a paused plan with a lost call is cancelled like a running plan", () => {
  const records: StepRecord[] = [{ key: "a", stepId: "a", status: "RUNNING", attempts: 1 }];
  const run = simulate(planOf([{ id: "a", tool: "k" }]), [write("k", { idempotency: "key" })], {
    records,
    events: [pause(-1), { type: "cancel", at: 20, reason: "enough" }],
    outcome: () => failed("unknown", { retryable: true }),
    durationMs: () => 4_900,
  });
  expect(run.calls.map(({ from, call }) => [from, call.settles])).toEqual([[20, true]]);
  expect(run.statuses["a"]).toBe("IN_DOUBT");
  expect(run.finish?.status).toBe("CANCELLED");
});
