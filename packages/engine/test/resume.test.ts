import type { Plan } from "@planwright/plan";
import { canMove, isTerminalStepStatus, STEP_LIFECYCLE, type StepStatus } from "@planwright/plan";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { StepRecord } from "../src/index.ts";
import {
  type Call,
  completed,
  EFFECT_TOOLS,
  failed,
  partsOf,
  planOf,
  type SimulateOptions,
  simulate,
  tool,
  write,
} from "./simulate.ts";

const outcome = (call: Call) => {
  const { list } = call.arguments;
  if (Array.isArray(list)) return completed(list.map((one) => ({ got: one })));
  return completed({ of: call.key, list: [1, 2, 3, 4, 5] });
};

const MIXED = planOf([
  { id: "a", tool: "read" },
  { id: "b", tool: "keyed", arguments: { x: "<<a.of>>" } },
  { id: "each", forEach: { items: "<<a.list>>", do: { tool: "keyed", arguments: { x: "<<item>>" } } } },
  { id: "batch", forEach: { items: "<<a.list>>", do: { tool: "batched", arguments: { x: "<<item>>" } } } },
  {
    id: "some",
    forEach: {
      items: "<<a.list>>",
      when: { in: ["<<item>>", [1, 3, 4, 5]] },
      do: { tool: "batched", arguments: { x: "<<item>>" } },
    },
  },
  { id: "none", forEach: { items: [], do: { tool: "keyed", arguments: {} } } },
  { id: "no", tool: "read", when: { eq: ["<<a.of>>", "nothing"] } },
  { id: "v", tool: "asked", dependsOn: ["b"] },
  { id: "end", tool: "read", arguments: { x: ["<<each.summary.ok>>", "<<batch.summary.ok>>", "<<v.of>>"] } },
]);

/** Runs until killed after this number of events, then continues from the durable records. */
function crashAndResume(
  plan: Plan,
  crashAfterEvents: number,
  options: SimulateOptions = {},
  onCrash: (durable: StepRecord[]) => void = () => {},
) {
  const common = { outcome, writeMs: 3, durationMs: durationOf, ...options };
  const before = simulate(plan, EFFECT_TOOLS, { ...common, crashAfterEvents });
  const durable = [...before.records.values()].map((record) => structuredClone(record));
  onCrash(durable);
  const after = simulate(plan, EFFECT_TOOLS, { ...common, records: durable });
  return { before, durable, after };
}

const durationOf = (call: Call) => 5 + ((call.key.length * 7) % 11);

test("killed after any event, a plan completes, and completed units are never called again", () => {
  const uninterrupted = simulate(MIXED, EFFECT_TOOLS, { outcome, writeMs: 3, durationMs: durationOf });
  expect(uninterrupted.finish?.status).toBe("COMPLETED");
  for (let events = 0; events <= uninterrupted.events; events++) {
    const { durable, after } = crashAndResume(MIXED, events);
    const done = new Set(durable.filter(({ status }) => status === "COMPLETED").map(({ key }) => key));
    for (const { call } of after.calls) {
      expect(done).not.toContain(call.key);
      expect(done).not.toContain(call.stepId);
      const open = call.items?.filter((item) => !done.has(`${call.stepId}[${item}]`));
      expect(open?.length).not.toBe(0);
    }
    expect(after.finish?.status).toBe("COMPLETED");
    expect(after.finish?.outputs).toEqual(uninterrupted.finish?.outputs);
  }
});

test("a call sent again after a crash has the same key and arguments", () => {
  const uninterrupted = simulate(MIXED, EFFECT_TOOLS, { outcome, writeMs: 3, durationMs: durationOf });
  for (let events = 0; events <= uninterrupted.events; events++) {
    const { before, after } = crashAndResume(MIXED, events);
    for (const { call } of after.calls) {
      const first = before.calls.find((span) => span.call.key === call.key);
      if (first) expect(call.arguments).toEqual(first.call.arguments);
      if (first) expect(call.attempt).toBeGreaterThan(first.call.attempt);
    }
  }
});

test.each<[string, string, string, number]>([
  ["R", "read", "COMPLETED", 1],
  ["K", "keyed", "COMPLETED", 1],
  ["V", "asked", "COMPLETED", 1],
  ["U", "unknown", "IN_DOUBT", 0],
])(
  "class %s, running when its executor died: %s is %s after %i calls",
  (effectClass, name, status, calls) => {
    const records: StepRecord[] = [{ key: "a", stepId: "a", status: "RUNNING", attempts: 1 }];
    const run = simulate(planOf([{ id: "a", tool: name }]), EFFECT_TOOLS, { records, outcome });
    expect(run.statuses["a"]).toBe(status);
    expect(run.calls).toHaveLength(calls);
    if (effectClass === "V") expect(run.calls[0]?.call.verify).toBe(true);
    if (effectClass === "U") expect(run.records.get("a")?.error?.code).toBe("EXECUTOR_LOST");
  },
);

test("a retry keeps its time after a crash", () => {
  const error = { code: "X", message: "x", retryable: true };
  const records: StepRecord[] = [
    { key: "a", stepId: "a", status: "RETRYING", attempts: 1, error, nextAttemptAt: 700 },
  ];
  const run = simulate(planOf([{ id: "a", tool: "read" }]), EFFECT_TOOLS, { records, outcome });
  expect(run.calls.map(({ from, call }) => [from, call.attempt])).toEqual([[700, 2]]);
});

test("a failure that was durable stops the plan after a crash as before it", () => {
  const error = { code: "X", message: "x", retryable: false };
  const records: StepRecord[] = [{ key: "a", stepId: "a", status: "FAILED", attempts: 1, error }];
  const steps = [
    { id: "a", tool: "keyed" },
    { id: "b", tool: "keyed", dependsOn: ["a"] },
    { id: "c", tool: "read" },
  ];
  const run = simulate(planOf(steps), EFFECT_TOOLS, { records, outcome });
  expect(run.calls).toEqual([]);
  expect(run.statuses).toEqual({ a: "FAILED", b: "SKIPPED", c: "SKIPPED" });
  expect(run.finish?.status).toBe("FAILED");
});

test("a finished plan finishes again without a call", () => {
  const uninterrupted = simulate(MIXED, EFFECT_TOOLS, { outcome });
  const again = simulate(MIXED, EFFECT_TOOLS, { outcome, records: [...uninterrupted.records.values()] });
  expect(again.calls).toEqual([]);
  expect(again.finish).toEqual({ ...uninterrupted.finish, records: [] });
});

for (const { numRuns, options } of partsOf(150))
  test("statuses change only by allowed moves, also over crashes", options, () => {
    fc.assert(
      fc.property(
        fc.nat({ max: 60 }),
        fc.array(fc.nat({ max: 3 }), { minLength: 8, maxLength: 8 }),
        (events, kinds) => {
          const seen = new Map<string, StepStatus>();
          const options: SimulateOptions = {
            outcome: (call) => {
              const kind = kinds[(call.key.length + call.attempt) % 8];
              const error = { code: "X", message: "x", retryable: true };
              if (kind === 1) return { type: "failed", error, effect: "none" };
              if (kind === 2) return { type: "failed", error, effect: "reported" };
              return outcome(call);
            },
            onCommand: (command) => {
              if (command.type === "call") {
                const { stepId, items } = command.call;
                const keys = items?.map((item) => `${stepId}[${item}]`) ?? [stepId];
                for (const key of keys) if (!isFinal(seen.get(key))) seen.set(key, "RUNNING");
              }
              if (command.type !== "record" && command.type !== "finish") return;
              for (const { key, status } of command.records) {
                const from = seen.get(key) ?? "PENDING";
                if (from !== status) expect(canMove(STEP_LIFECYCLE, from, status)).toBe(true);
                seen.set(key, status);
              }
            },
          };
          crashAndResume(MIXED, events, options, (durable) => {
            seen.clear();
            for (const { key, status } of durable) seen.set(key, status);
          });
        },
      ),
      { numRuns },
    );
  });

const isFinal = (status: StepStatus | undefined) => status !== undefined && isTerminalStepStatus(status);

test.each([
  [[{ type: "cancel", at: 0, reason: "enough" } as const], "CANCELLED"],
  [[], "COMPLETED"],
] as const)("items that are durable while their step's record is not are restored (%o)", (events, status) => {
  const records: StepRecord[] = [
    { key: "a", stepId: "a", status: "COMPLETED", attempts: 1, output: { of: "a", list: [1, 2, 3, 4, 5] } },
    { key: "b", stepId: "b", status: "COMPLETED", attempts: 1, output: {} },
    { key: "each", stepId: "each", status: "PENDING", attempts: 0 },
    { key: "each[1]", stepId: "each", item: 1, status: "PENDING", attempts: 0 },
    { key: "each[3]", stepId: "each", item: 3, status: "PENDING", attempts: 0 },
  ];
  const run = simulate(MIXED, EFFECT_TOOLS, { records, outcome, events: [...events] });
  expect(run.finish?.status).toBe(status);
  for (const key of ["each", "each[1]", "each[3]"]) expect(run.records.get(key)?.status).toBe(status);
});

test("items that an earlier version finished are not called, and their outputs are in the envelope", () => {
  const plan = planOf([
    { id: "each", forEach: { items: [1, 2, 3, 4], do: { tool: "batched", arguments: { x: "<<item>>" } } } },
  ]);
  const records: StepRecord[] = [0, 2].map((item) => {
    const key = `each[${item}]`;
    return {
      key,
      stepId: "each",
      item,
      status: "COMPLETED",
      attempts: 1,
      output: `old ${item}`,
      carriedFrom: { planId: "plan_1", key },
    };
  });
  const run = simulate(plan, EFFECT_TOOLS, {
    outcome,
    records: [{ key: "each", stepId: "each", status: "PENDING", attempts: 0 }, ...records],
  });
  expect(run.calls.map(({ call }) => [call.key, call.items])).toEqual([
    ["each[0..2]", [1]],
    ["each[3..3]", [3]],
  ]);
  expect(run.finish?.outputs?.["each"]).toMatchObject({
    results: [{ data: "old 0" }, { data: { got: { x: 2 } } }, { data: "old 2" }, { status: "ok" }],
    summary: { ok: 4, error: 0 },
  });
});

test.each([
  ["the plan", { maxParallel: 1 }, {}],
  ["the tool", {}, { mode: "fan-out-bounded", max_concurrency: 1 }],
  ["a barrier", {}, { barrier: true }],
] as const)("calls that were lost with their executor respect the limit of %s", (_, policy, contract) => {
  const records: StepRecord[] = ["a", "b", "c"].map((id) => ({
    key: id,
    stepId: id,
    status: "RUNNING",
    attempts: 1,
  }));
  const steps = ["a", "b", "c", "d"].map((id) => ({ id, tool: id === "d" ? "read" : "limited" }));
  const tools = [tool("read"), write("limited", { idempotency: "key", ...contract })];
  const run = simulate(planOf(steps, policy), tools, { records });
  expect(run.finish?.status).toBe("COMPLETED");
  const limited = run.calls.filter(({ call }) => call.tool === "limited");
  expect(limited.map(({ call, from }) => [call.key, from])).toEqual([
    ["a", 0],
    ["b", 10],
    ["c", 20],
  ]);
});

test("a lost call waits for a slot although its plan has failed meanwhile, and its result is recorded", () => {
  const records: StepRecord[] = ["a", "b"].map((id) => ({
    key: id,
    stepId: id,
    status: "RUNNING",
    attempts: 1,
  }));
  const steps = ["a", "b", "c"].map((id) => ({ id, tool: "keyed", dependsOn: id === "c" ? ["b"] : [] }));
  const run = simulate(planOf(steps, { maxParallel: 1, onStepFailure: "fail-fast" }), EFFECT_TOOLS, {
    records,
    outcome: ({ key }) => (key === "a" ? failed() : completed(key)),
  });
  expect(run.finish?.status).toBe("FAILED");
  expect(run.statuses).toEqual({ a: "FAILED", b: "COMPLETED", c: "SKIPPED" });
});

test("a lost call that gets no slot within the grace period of a cancelled plan is in doubt", () => {
  const records: StepRecord[] = [
    { key: "each", stepId: "each", status: "RUNNING", attempts: 0 },
    ...[0, 1].map(
      (item): StepRecord => ({ key: `each[${item}]`, stepId: "each", item, status: "RUNNING", attempts: 1 }),
    ),
  ];
  const plan = planOf([{ id: "each", forEach: { items: [1, 2], errors: "stop", do: { tool: "keyed" } } }], {
    maxParallel: 1,
  });
  const run = simulate(plan, EFFECT_TOOLS, {
    records,
    durationMs: () => 6_000,
    outcome: () => failed("unknown", { retryable: true }),
    events: [{ type: "cancel", at: 5, reason: "stop" }],
  });
  expect(run.calls.map(({ call, from, to }) => [call.key, call.settles, from, to])).toEqual([
    ["each[0]", undefined, 0, 5],
    ["each[1]", true, 5, 5_005],
  ]);
  expect(run.finish?.status).toBe("CANCELLED");
  expect([...run.records.values()].map(({ key, status }) => [key, status])).toEqual([
    ["each", "CANCELLED"],
    ["each[0]", "IN_DOUBT"],
    ["each[1]", "IN_DOUBT"],
  ]);
});
