import type { JsonObject } from "@planwright/plan";
import { expect, test } from "vitest";
import { createEngineState, decide, type EngineEvent, type Outcome, type StepRecord } from "../src/index.ts";
import { type Call, completed, failed, planOf, simulate, tool, write } from "./simulate.ts";

const LOST = failed("unknown", { code: "TOOL_CONNECTION_LOST", retryable: true });
const UNREACHABLE = failed("none", { code: "TOOL_UNREACHABLE", retryable: true });
const BUSY = failed("none", { code: "TOOL_RATE_LIMITED", retryable: true });
const GONE = failed("none", { code: "TOOL_NOT_FOUND" });
const REFUSED = failed("reported");
const TRY_LATER = failed("reported", { retryable: true });
const OPEN = failed("unknown", { code: "EXECUTOR_LOST" });
const NEVER_HAPPENED = failed("none", { code: "EXECUTOR_LOST", retryable: true });
const DONE = completed({ ok: true });

const CONTRACTS = {
  read: { side_effects: false },
  natural: { side_effects: true, idempotency: "natural" },
  keyed: { side_effects: true, idempotency: "key" },
  lookedUp: { side_effects: true, lookup: { tool: "find", arguments: {} } },
} satisfies { [name: string]: JsonObject };
type Contract = keyof typeof CONTRACTS;

/** Outcomes of consecutive calls; the last one repeats. */
function answers(...outcomes: Outcome[]): () => Outcome {
  let next = 0;
  return () => outcomes[Math.min(next++, outcomes.length - 1)] ?? DONE;
}

const ONE = planOf([{ id: "a", tool: "t" }]);
const toolOf = (contract: Contract) => [tool("t", CONTRACTS[contract])];
const cancel = (at: number): EngineEvent => ({ type: "cancel", at, reason: "Cancelled by the client" });

test.each<[Contract, string, Outcome, string, string | undefined]>([
  ["keyed", "the tool is gone", GONE, "IN_DOUBT", "ANSWER_LOST"],
  ["keyed", "too many calls, until the last attempt", BUSY, "IN_DOUBT", "ANSWER_LOST"],
  ["keyed", "a server that stays unreachable", UNREACHABLE, "IN_DOUBT", "ANSWER_LOST"],
  ["keyed", "an error of the tool to the same key", REFUSED, "FAILED", "TOOL_FAILED"],
  ["keyed", "an error that may pass, until the last attempt", TRY_LATER, "IN_DOUBT", "ANSWER_LOST"],
  ["keyed", "only lost answers", LOST, "IN_DOUBT", "TOOL_CONNECTION_LOST"],
  ["keyed", "a result", DONE, "COMPLETED", undefined],
  ["natural", "the tool is gone", GONE, "IN_DOUBT", "ANSWER_LOST"],
  ["natural", "an error of the tool, which has no key", REFUSED, "IN_DOUBT", "ANSWER_LOST"],
  ["read", "the tool is gone", GONE, "FAILED", "TOOL_NOT_FOUND"],
  ["read", "an error of the tool", REFUSED, "FAILED", "TOOL_FAILED"],
  ["lookedUp", "a look-up that leaves it open", OPEN, "IN_DOUBT", "EXECUTOR_LOST"],
  ["lookedUp", "a look-up that finds it", DONE, "COMPLETED", undefined],
])("a %s call whose answer was lost, and then %s", (contract, _, then, status, code) => {
  const run = simulate(ONE, toolOf(contract), { outcome: answers(LOST, then) });
  expect(run.records.get("a")?.status).toBe(status);
  expect(run.records.get("a")?.error?.code).toBe(code);
});

test("a read by a hint that is believed is never in doubt, and has no effect", () => {
  const read = { name: "t", server: "shop", annotations: { readOnlyHint: true } };
  const calls: Call[] = [];
  const outcome = (call: Call) => {
    calls.push(call);
    return LOST;
  };
  const run = simulate(ONE, [read], { outcome });
  expect(run.records.get("a")).toMatchObject({ status: "FAILED", error: { code: "TOOL_CONNECTION_LOST" } });
  expect(calls.map(({ effectClass, mayAct }) => [effectClass, mayAct])).toEqual(
    Array.from({ length: 3 }, () => ["R", false]),
  );
});

test("an answer to the key reports that an earlier answer was lost", () => {
  const run = simulate(ONE, toolOf("keyed"), { outcome: answers(LOST, REFUSED) });
  expect(run.records.get("a")?.error?.message).toBe(
    "it broke (the answer to an earlier call was lost; this one is to the same key)",
  );
});

test("mayHaveActed is durable until the call is settled", () => {
  const seen: (boolean | undefined)[] = [];
  simulate(ONE, toolOf("keyed"), {
    outcome: answers(LOST, BUSY, DONE),
    onCommand: (command) => {
      if (command.type === "record") seen.push(...command.records.map(({ mayHaveActed }) => mayHaveActed));
      if (command.type === "finish") seen.push(...command.records.map(({ mayHaveActed }) => mayHaveActed));
    },
  });
  expect(seen).toEqual([true, true, undefined]);
});

test("a look-up that gives no answer is repeated until the plan's deadline, as one attempt", () => {
  const plan = planOf([{ id: "a", tool: "t" }], { unreachableMs: 1_000 });
  const silent = Array.from({ length: 40 }, () => LOST);
  const run = simulate(plan, toolOf("lookedUp"), { outcome: answers(LOST, ...silent, DONE) });
  expect(run.calls.map(({ call }) => call.verify)).toEqual([undefined, ...silent.map(() => true), true]);
  expect(run.records.get("a")).toMatchObject({ status: "COMPLETED", attempts: 3 });
  expect(run.endedAt).toBeGreaterThan(100_000);
});

test("a look-up is not repeated before the time that the server asked for", () => {
  const later = failed("unknown", { code: "TOOL_RATE_LIMITED", retryable: true, retryAfterMs: 90_000 });
  const run = simulate(ONE, toolOf("lookedUp"), { outcome: answers(LOST, later, DONE) });
  expect(run.calls.map(({ from }) => from)).toEqual([0, 10, 90_020]);
});

// The call ends at 10 ms without an answer, waits for its retry, and the plan is cancelled at 20 ms.
test.each<[Contract, string, Outcome[], string, string]>([
  ["keyed", "a result", [DONE], "COMPLETED", "COMPLETED"],
  [
    "keyed",
    "a result after the server was unreachable",
    [UNREACHABLE, UNREACHABLE, DONE],
    "COMPLETED",
    "COMPLETED",
  ],
  ["keyed", "an error of the tool to the same key", [REFUSED], "FAILED", "CANCELLED"],
  ["keyed", "no answer", [LOST], "IN_DOUBT", "CANCELLED"],
  ["keyed", "a server that stays unreachable", [UNREACHABLE], "IN_DOUBT", "CANCELLED"],
  ["keyed", "a tool that is gone", [GONE], "IN_DOUBT", "CANCELLED"],
  ["natural", "a result", [DONE], "COMPLETED", "COMPLETED"],
  ["natural", "an error of the tool", [REFUSED], "IN_DOUBT", "CANCELLED"],
  ["read", "no further call", [DONE], "CANCELLED", "CANCELLED"],
])(
  "a cancelled plan repeats a %s call that may have acted, and gets %s",
  (contract, _, then, status, end) => {
    const run = simulate(ONE, toolOf(contract), {
      outcome: answers(LOST, ...then),
      random: () => 0.999,
      events: [cancel(20)],
    });
    expect(run.records.get("a")?.status).toBe(status);
    // A failed step does not count as cut short.
    expect(run.finish?.status).toBe(status === "FAILED" ? "FAILED" : end);
    const again = run.calls.slice(1).map(({ call }) => call);
    for (const call of again) {
      expect(call).toMatchObject({ key: "a", arguments: run.calls[0]?.call.arguments, settles: true });
      expect(call.timeoutMs).toBeLessThanOrEqual(5_000);
    }
    expect(again.length > 0).toBe(contract !== "read");
    // The first repeat comes at once; an unreachable server is not tried in a tight loop.
    const waits = run.calls.slice(2).map(({ from }, index) => from - (run.calls[index + 1]?.to ?? 0));
    for (const wait of waits) expect(wait).toBeGreaterThanOrEqual(500);
    expect(run.endedAt).toBeLessThanOrEqual(5_020);
  },
);

test.each<[string, Outcome, string]>([
  ["happened", DONE, "COMPLETED"],
  ["never happened", NEVER_HAPPENED, "CANCELLED"],
  ["no answer", LOST, "IN_DOUBT"],
])(
  "a look-up that runs when its plan is cancelled continues, and its answer decides: %s",
  (_, then, status) => {
    const run = simulate(ONE, toolOf("lookedUp"), {
      outcome: answers(LOST, then),
      durationMs: ({ verify }) => (verify ? 1_000 : 10),
      events: [cancel(20)],
    });
    expect(run.calls[1]).toMatchObject({ call: { verify: true }, from: 10, to: 1_010 });
    expect(run.records.get("a")?.status).toBe(status);
  },
);

test("a look-up without an answer within the grace period is stopped, and its call is in doubt", () => {
  const run = simulate(ONE, toolOf("lookedUp"), {
    outcome: answers(LOST, DONE),
    durationMs: ({ verify }) => (verify ? 60_000 : 10),
    events: [cancel(20)],
  });
  expect(run.records.get("a")).toMatchObject({ status: "IN_DOUBT", error: { code: "ANSWER_LOST" } });
  expect(run.endedAt).toBe(5_020);
});

test("a call that gets no slot within the grace period is in doubt when it ends", () => {
  const plan = planOf(
    [
      { id: "a", tool: "t" },
      { id: "b", tool: "t" },
    ],
    { maxParallel: 1 },
  );
  const run = simulate(plan, toolOf("keyed"), {
    outcome: () => LOST,
    durationMs: ({ settles }) => (settles ? 60_000 : 10),
    random: () => 0.999,
    events: [cancel(25)],
  });
  expect(run.calls.filter(({ call }) => call.settles)).toHaveLength(1);
  expect(run.statuses).toEqual({ a: "IN_DOUBT", b: "IN_DOUBT" });
  expect(run.endedAt).toBe(5_025);
});

test("a call that may have acted is repeated also at the deadline and after a crash", () => {
  const records: StepRecord[] = [
    {
      key: "a",
      stepId: "a",
      status: "RETRYING",
      attempts: 1,
      mayHaveActed: true,
      nextAttemptAt: 60_000,
      error: { code: "TOOL_TIMEOUT", message: "no answer", retryable: true },
    },
  ];
  for (const event of [cancel(-1), { type: "deadline", at: -1 } as const]) {
    const run = simulate(ONE, toolOf("keyed"), { records, events: [event] });
    expect(run.calls.map(({ call }) => [call.attempt, call.settles])).toEqual([[2, true]]);
    expect(run.statuses["a"]).toBe("COMPLETED");
  }
});

test("a call that may have acted continues when the failure of another step stops the plan", () => {
  const plan = planOf(
    [
      { id: "a", tool: "t" },
      { id: "b", tool: "r" },
    ],
    { onStepFailure: "fail-fast" },
  );
  const byStep = (outcome: () => Outcome) => (call: Call) => (call.stepId === "b" ? REFUSED : outcome());
  const run = simulate(plan, [write("t", { idempotency: "key" }), tool("r")], {
    outcome: byStep(answers(LOST, LOST, DONE)),
    durationMs: ({ stepId }) => (stepId === "b" ? 15 : 10),
  });
  expect(run.statuses).toEqual({ a: "COMPLETED", b: "FAILED" });
  expect(run.finish?.status).toBe("FAILED");
});

test("an item that may have acted continues when its list has stopped", () => {
  const plan = planOf([{ id: "each", forEach: { items: [1, 2, 3], errors: "stop", do: { tool: "t" } } }], {
    maxParallel: 2,
  });
  const lost = answers(LOST, DONE);
  const run = simulate(plan, [write("t", { idempotency: "key" })], {
    outcome: (call) => (call.key === "each[0]" ? lost() : REFUSED),
    durationMs: ({ key }) => (key === "each[0]" ? 10 : 15),
    random: () => 0.999,
  });
  const statuses = ["each[0]", "each[1]", "each[2]"].map((key) => run.records.get(key)?.status);
  expect(statuses[0]).toBe("COMPLETED");
  expect(statuses[1]).toBe("FAILED");
  expect(run.statuses["each"]).toBe("FAILED");
});

test("when the tool must not be called any more, a call that may have acted is in doubt", () => {
  const records: StepRecord[] = [
    { key: "a", stepId: "a", status: "RETRYING", attempts: 1, mayHaveActed: true, nextAttemptAt: 5 },
  ];
  const refusals = new Map([["t", { code: "TOOL_CHANGED", message: "it changed", retryable: false }]]);
  const run = simulate(ONE, toolOf("keyed"), { records, refusals });
  expect(run.calls).toEqual([]);
  expect(run.records.get("a")).toMatchObject({ status: "IN_DOUBT", error: { code: "ANSWER_LOST" } });
});

test("an unanswered call of an earlier version counts as a call of this version as soon as it is made", () => {
  const records: StepRecord[] = [
    { key: "a", stepId: "a", status: "PENDING", attempts: 0, unanswered: ["a"] },
  ];
  expect(simulate(ONE, toolOf("keyed"), { records, outcome: () => GONE }).statuses["a"]).toBe("IN_DOUBT");
  const cancelled = simulate(ONE, toolOf("keyed"), { records, events: [cancel(-1)] });
  expect(cancelled.calls).toEqual([]);
  expect(cancelled.statuses["a"]).toBe("CANCELLED");
  const full: Outcome = { type: "deferred", untilAt: 60_000, waitReason: "limit" };
  const deferred = simulate(ONE, toolOf("keyed"), { records, outcome: () => full, events: [cancel(20)] });
  expect(deferred.calls).toHaveLength(1);
  expect(deferred.statuses["a"]).toBe("CANCELLED");
});

test("after an operator's retry of a call with a key, the earlier call may still have acted", () => {
  const retry: EngineEvent = { type: "resolve", key: "a", resolution: { type: "retry" }, at: 60_000 };
  const outcomes = [LOST, LOST, LOST, GONE];
  const keyed = simulate(ONE, toolOf("keyed"), { outcome: answers(...outcomes), events: [retry] });
  expect(keyed.statuses["a"]).toBe("IN_DOUBT");
  const plain = simulate(ONE, [write("t")], { outcome: answers(LOST, GONE), events: [retry] });
  expect(plain.statuses["a"]).toBe("FAILED");
});

test.each<[Contract, string, boolean[]]>([
  ["keyed", "IN_DOUBT", [true]],
  ["lookedUp", "CANCELLED", []],
])("a %s call that an operator retries, cancelled before it is made, is %s", (contract, status, settles) => {
  const retry: EngineEvent = { type: "resolve", key: "a", resolution: { type: "retry" }, at: 60_000 };
  const outcome = contract === "keyed" ? answers(LOST, LOST, LOST, GONE) : answers(LOST, OPEN);
  const run = simulate(ONE, toolOf(contract), { outcome, events: [retry, cancel(60_000)] });
  expect(run.statuses["a"]).toBe(status);
  const late = run.calls.filter(({ from }) => from >= 60_000);
  expect([...new Set(late.map(({ call }) => call.settles))]).toEqual(settles);
});

test("a call that an operator retries is in doubt when its plan is cancelled and its tool must not be called", () => {
  const records: StepRecord[] = [
    { key: "a", stepId: "a", status: "PENDING", attempts: 1, mayHaveActed: true },
  ];
  const refusals = new Map([["t", { code: "TOOL_CHANGED", message: "it changed", retryable: false }]]);
  const run = simulate(ONE, toolOf("keyed"), { records, refusals, events: [cancel(-1)] });
  expect(run.calls).toEqual([]);
  expect(run.statuses["a"]).toBe("IN_DOUBT");
});

test("cancelling a list whose items all may have acted visits each item only a few times", () => {
  const count = 1_000;
  const each = { items: "<<list>>", errors: "collect", do: { tool: "t", arguments: { x: "<<item>>" } } };
  const plan = planOf([
    { id: "list", tool: "find" },
    { id: "each", forEach: each },
  ]);
  const tools = [tool("find"), tool("t", { ...CONTRACTS.keyed, backoff: { initialMs: 60_000 } })];
  const state = createEngineState({ plan, tools, records: [] });
  const queue: EngineEvent[] = [{ type: "started", at: 0 }];
  const next = (): void => {
    const event = queue.shift();
    for (const command of event ? decide(state, event) : []) {
      if (command.type === "record")
        queue.push({ type: "recorded", keys: command.records.map(({ key }) => key), at: 0 });
      if (command.type !== "call") continue;
      const { key, attempt } = command.call;
      const outcome = key === "list" ? completed(Array.from({ length: count }, (_, item) => item)) : LOST;
      queue.push({ type: "attempt.ended", key, attempt, outcome, at: 0, random: 0.5 });
    }
  };
  while (queue.length > 0) next();

  let visits = 0;
  for (const unit of state.units.values()) {
    let { mayHaveActed } = unit;
    Object.defineProperty(unit, "mayHaveActed", {
      get: () => (visits++, mayHaveActed),
      set(now: boolean) {
        mayHaveActed = now;
      },
    });
  }
  queue.push(cancel(1));
  next();
  expect(state.heldCalls.length).toBeGreaterThan(count / 2);
  expect(visits).toBeLessThan(10 * count);
  visits = 0;
  next();
  expect(visits).toBeLessThan(100);
});
