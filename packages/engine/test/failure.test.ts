import type { JsonObject } from "@planwright/plan";
import { expect, test } from "vitest";
import type { Outcome, StepRecord } from "../src/index.ts";
import { type Call, completed, failed, graph, planOf, simulate, tool, write } from "./simulate.ts";

const failing =
  (id: string, outcome: Outcome = failed()) =>
  (call: Call): Outcome =>
    call.stepId === id ? outcome : completed({ ok: true });

/** The server cannot be reached until that time, in virtual milliseconds; attempts take 10 ms. */
function unreachableUntil(at: number): (call: Call, now: number) => Outcome {
  return (_, now) =>
    now < at ? failed("none", { code: "TOOL_UNREACHABLE", retryable: true }) : completed({ ok: true });
}

const isRetrying = ({ status }: StepRecord) => status === "RETRYING";

const CHAIN = { a: [], b: ["a"], c: ["b"], d: [] };

test.each([
  ["fail-fast", { a: "FAILED", b: "SKIPPED", c: "SKIPPED", d: "COMPLETED" }, "FAILED"],
  ["fail-forward", { a: "FAILED", b: "SKIPPED", c: "SKIPPED", d: "COMPLETED" }, "PARTIAL"],
  ["run-dependents", { a: "FAILED", b: "COMPLETED", c: "COMPLETED", d: "COMPLETED" }, "PARTIAL"],
] as const)("under %s a failure leaves the steps %o and the plan %s", (onStepFailure, statuses, status) => {
  const run = simulate(planOf(graph(CHAIN), { onStepFailure }), [tool("t")], { outcome: failing("a") });
  expect(run.statuses).toEqual(statuses);
  expect(run.finish).toMatchObject({
    status,
    error: { code: "TOOL_FAILED", message: "Step 'a' failed: it broke" },
  });
});

test("fail-fast starts nothing new, lets running calls finish and keeps their results", () => {
  const plan = planOf(graph({ a: [], slow: [], after: ["slow"], later: [] }), {
    onStepFailure: "fail-fast",
    maxParallel: 2,
  });
  const run = simulate(plan, [tool("t")], {
    outcome: failing("a"),
    durationMs: ({ stepId }) => (stepId === "slow" ? 100 : 10),
  });
  expect(run.statuses).toEqual({ a: "FAILED", slow: "COMPLETED", after: "SKIPPED", later: "SKIPPED" });
  expect(run.records.get("after")?.error?.code).toBe("PLAN_FAILED");
  expect(run.finish).toMatchObject({ status: "FAILED", outputs: { slow: { ok: true } } });
});

test("dependents of a failed step, direct or not, say which step failed", () => {
  const run = simulate(planOf(graph(CHAIN)), [tool("t")], { outcome: failing("a") });
  for (const key of ["b", "c"]) {
    expect(run.records.get(key)?.error).toEqual({
      code: "DEPENDENCY_FAILED",
      message: "Skipped because dependency 'a' failed",
      retryable: false,
    });
  }
});

test.each<[string, JsonObject, string]>([
  ["only read-only tools", {}, "PARTIAL"],
  ["a tool that writes", { side_effects: true }, "FAILED"],
])("auto with %s (%o) ends the plan %s", (_, contract, status) => {
  const plan = planOf([
    { id: "a", tool: "t" },
    { id: "b", tool: "t" },
    { id: "w", tool: "w", dependsOn: ["b"] },
  ]);
  expect(simulate(plan, [tool("t"), tool("w", contract)], { outcome: failing("a") }).finish?.status).toBe(
    status,
  );
});

test.each([
  ["fail-fast", "FAILED"],
  ["fail-forward", "PARTIAL"],
  ["run-dependents", "PARTIAL"],
] as const)("a step's onError %s overrides the plan: %s", (onError, status) => {
  const steps = graph({ a: [], b: ["a"], c: [] }).map((step) =>
    step["id"] === "a" ? { ...step, onError } : step,
  );
  const opposite = onError === "fail-fast" ? "fail-forward" : "fail-fast";
  const run = simulate(planOf(steps, { onStepFailure: opposite }), [tool("t")], { outcome: failing("a") });
  expect(run.finish?.status).toBe(status);
  expect(run.statuses["b"]).toBe(onError === "run-dependents" ? "COMPLETED" : "SKIPPED");
});

test.each([
  ["fail-fast", "FAILED"],
  ["partial-success", "PARTIAL"],
])("under auto a declared error_propagation %s decides: %s", (error_propagation, status) => {
  const plan = planOf([
    { id: "a", tool: "t" },
    { id: "w", tool: "w" },
  ]);
  const run = simulate(plan, [tool("t", { error_propagation }), write("w", { idempotency: "key" })], {
    outcome: failing("a"),
  });
  expect(run.finish?.status).toBe(status);
});

test("FAILED means that no requested output is available", () => {
  const plan = planOf(graph({ a: [], b: [] }), { onStepFailure: "fail-forward" }, ["a"]);
  const run = simulate(plan, [tool("t")], { outcome: failing("a") });
  expect(run.finish).toMatchObject({ status: "FAILED", outputs: {} });
  const other = simulate({ ...plan, outputs: ["b"] }, [tool("t")], { outcome: failing("a") });
  expect(other.finish).toMatchObject({ status: "PARTIAL", outputs: { b: { ok: true } } });
});

test("a step whose condition reads the status of a failed step runs", () => {
  const plan = planOf(
    [
      { id: "a", tool: "t" },
      { id: "repair", tool: "t", when: { status: ["a", "FAILED"] }, dependsOn: ["a"] },
    ],
    { onStepFailure: "fail-forward" },
  );
  expect(simulate(plan, [tool("t")], { outcome: failing("a") }).statuses["repair"]).toBe("COMPLETED");
});

test("an unknown tool fails its step with TOOL_NOT_FOUND, without a call", () => {
  const run = simulate(planOf([{ id: "a", tool: "gone" }]), []);
  expect(run.calls).toEqual([]);
  expect(run.records.get("a")).toMatchObject({
    status: "FAILED",
    attempts: 0,
    error: { code: "TOOL_NOT_FOUND" },
  });
});

// Class, contract, effect and retryable of every attempt -> number of attempts and status of the step.
test.each<[string, JsonObject, "none" | "reported" | "unknown", boolean, number, string]>([
  ["R", { side_effects: false }, "none", true, 3, "FAILED"],
  ["R", { side_effects: false }, "reported", true, 3, "FAILED"],
  ["R", { side_effects: false }, "reported", false, 1, "FAILED"],
  ["R", { side_effects: false }, "unknown", true, 3, "FAILED"],
  ["R", { side_effects: true, idempotency: "natural" }, "unknown", true, 3, "IN_DOUBT"],
  ["K", { side_effects: true, idempotency: "key" }, "reported", true, 3, "FAILED"],
  ["K", { side_effects: true, idempotency: "key" }, "unknown", true, 3, "IN_DOUBT"],
  ["U", { side_effects: true }, "none", true, 3, "FAILED"],
  ["U", { side_effects: true }, "none", false, 1, "FAILED"],
  ["U", { side_effects: true }, "reported", true, 1, "FAILED"],
  ["U", { side_effects: true }, "unknown", true, 1, "IN_DOUBT"],
])(
  "class %s (%o), effect %s, retryable %s: %i attempts, then %s",
  (_, contract, effect, retryable, attempts, status) => {
    const run = simulate(planOf([{ id: "a", tool: "t" }]), [tool("t", contract)], {
      outcome: () => failed(effect, { retryable }),
    });
    expect(run.calls).toHaveLength(attempts);
    expect(run.statuses["a"]).toBe(status);
    if (status === "IN_DOUBT")
      expect(run.park).toEqual({ type: "park", status: "WAITING", reason: "in doubt" });
  },
);

test("attempts wait with full jitter from 1 s doubling, and send the same arguments", () => {
  const run = simulate(
    planOf([{ id: "a", tool: "t", arguments: { x: 1 }, retry: { maxAttempts: 4 } }]),
    [tool("t")],
    {
      outcome: () => failed("unknown", { retryable: true }),
      random: () => 0.5,
    },
  );
  expect(run.calls.map(({ from }) => from)).toEqual([0, 510, 1_520, 3_530]);
  expect(run.calls.map(({ call }) => call.attempt)).toEqual([1, 2, 3, 4]);
  for (const { call } of run.calls) expect(call.arguments).toBe(run.calls[0]?.call.arguments);
});

test("Retry-After is the minimum wait before an attempt", () => {
  let first = true;
  const run = simulate(planOf([{ id: "a", tool: "t" }]), [tool("t")], {
    outcome: () => {
      const outcome = first ? failed("none", { retryable: true, retryAfterMs: 7_000 }) : completed(1);
      first = false;
      return outcome;
    },
  });
  expect(run.calls.map(({ from }) => from)).toEqual([0, 7_010]);
  expect(run.commands).toContainEqual({ type: "park", status: "WAITING", reason: "backoff", until: 7_010 });
});

// The same for every class, because nothing was sent.
test.each<[string, JsonObject]>([
  ["R", { side_effects: false }],
  ["K", { side_effects: true, idempotency: "key" }],
  ["V", { side_effects: true, lookup: { tool: "find", arguments: {} } }],
  ["U", { side_effects: true }],
])(
  "class %s: a server that cannot be reached is tried beyond maxAttempts, then the call is made",
  (_, contract) => {
    const run = simulate(
      planOf([{ id: "a", tool: "t", retry: { maxAttempts: 1 } }]),
      [tool("t", { ...contract, backoff: { max_attempts: 1 } })],
      { outcome: unreachableUntil(120_000) },
    );
    expect(run.finish?.status).toBe("COMPLETED");
    expect(run.calls.length).toBeGreaterThan(5);
    // The failed tries are one attempt, the sent call is another.
    expect(run.records.get("a")).toMatchObject({ status: "COMPLETED", attempts: 2, unsent: 1 });
  },
);

test("a server that cannot be reached is retried with backoff, and the record has the time of the first try", () => {
  const waiting: StepRecord[] = [];
  const run = simulate(planOf([{ id: "a", tool: "t" }]), [tool("t")], {
    outcome: unreachableUntil(10_000),
    onCommand: (command) => {
      if (command.type === "record") waiting.push(...command.records.filter(isRetrying));
    },
  });
  expect(
    waiting.map(({ unreachable, nextAttemptAt }) => [unreachable?.since, unreachable?.tries, nextAttemptAt]),
  ).toEqual([
    [10, 1, 510],
    [10, 2, 1_520],
    [10, 3, 3_530],
    [10, 4, 7_540],
    [10, 5, 15_550],
  ]);
  for (const { waitReason, attempts } of waiting)
    expect({ waitReason, attempts }).toEqual({ waitReason: "backoff", attempts: 1 });
  expect(run.calls.map(({ from }) => from)).toEqual([0, 510, 1_520, 3_530, 7_540, 15_550]);
});

test.each([
  [0, 1, 10],
  [5_000, 5, 5_020],
  [600_000, 45, 600_020],
])(
  "with unreachableMs %i the wait for a server ends with try %i, at %i ms",
  (unreachableMs, tries, endedAt) => {
    const run = simulate(planOf([{ id: "a", tool: "t" }], { unreachableMs }), [tool("t")], {
      outcome: unreachableUntil(Number.POSITIVE_INFINITY),
    });
    expect(run.calls).toHaveLength(tries);
    expect(run.endedAt).toBe(endedAt);
    expect(run.records.get("a")).toMatchObject({
      status: "FAILED",
      attempts: 1,
      error: { code: "TOOL_UNREACHABLE" },
    });
    const { message } = run.records.get("a")?.error ?? {};
    if (tries > 1) expect(message).toBe(`it broke (tried ${tries} times since 1970-01-01T00:00:00.010Z)`);
  },
);

test("the plan's deadline ends the wait for an unreachable server", () => {
  const run = simulate(planOf([{ id: "a", tool: "t" }]), [tool("t")], {
    outcome: unreachableUntil(Number.POSITIVE_INFINITY),
    events: [{ type: "deadline", at: 5_000 }],
  });
  expect(run.finish?.status).toBe("EXPIRED");
  expect(run.statuses["a"]).toBe("CANCELLED");
});

test("a wait for an unreachable server keeps its start time over a crash", () => {
  const plan = planOf([{ id: "a", tool: "t" }], { unreachableMs: 20_000 });
  const outcome = unreachableUntil(Number.POSITIVE_INFINITY);
  const before = simulate(plan, [tool("t")], { outcome, crashAfterEvents: 8 });
  const records = [...before.records.values()];
  expect(records).toMatchObject([{ status: "RETRYING", unreachable: { since: 10 } }]);
  const after = simulate(plan, [tool("t")], { outcome, records });
  expect(after.records.get("a")).toMatchObject({
    status: "FAILED",
    attempts: 1,
    unsent: 1,
    unreachable: { since: 10 },
  });
  expect(after.endedAt).toBe(20_020);
});

test.each(["TOOL_NOT_FOUND", "TOOL_UNAUTHORIZED"])("%s fails at once", (code) => {
  const run = simulate(planOf([{ id: "a", tool: "t" }]), [tool("t")], {
    outcome: () => failed("none", { code, retryable: false }),
  });
  expect(run.calls).toHaveLength(1);
  expect(run.statuses["a"]).toBe("FAILED");
});

test("an unreachable error that the tool itself reports is not tried again", () => {
  const run = simulate(planOf([{ id: "a", tool: "t" }]), [write("t")], {
    outcome: () => failed("reported", { code: "TOOL_UNREACHABLE", retryable: true }),
  });
  expect(run.calls).toHaveLength(1);
  expect(run.records.get("a")).toMatchObject({ status: "FAILED", attempts: 1 });
});

test("class V asks the lookup tool: found completes, not happened calls again, unknown is in doubt", () => {
  const lookup = write("v", { lookup: { tool: "find", arguments: {} } });
  const run = (verified: Outcome) => {
    let calls = 0;
    return simulate(planOf([{ id: "a", tool: "v" }]), [lookup], {
      outcome: (call) => {
        calls++;
        if (call.verify) return verified;
        return calls === 1 ? failed("unknown") : completed("second");
      },
    });
  };
  const found = run(completed("first"));
  expect(found.calls.map(({ call }) => call.verify ?? false)).toEqual([false, true]);
  expect(found.finish?.outputs).toEqual({ a: "first" });
  expect(run(failed("none")).finish?.outputs).toEqual({ a: "second" });
  expect(run(failed("unknown")).statuses["a"]).toBe("IN_DOUBT");
});

test.each<[string, (call: Call) => Outcome, number, string]>([
  ["that is refused", () => failed("none", { retryable: true }), 3, "it broke"],
  [
    "that is refused, and then never happens",
    ({ verify, attempt }) =>
      verify || attempt === 1 ? failed("none", { retryable: true }) : failed("unknown"),
    3,
    "a was sent 3 times and never happened: it broke",
  ],
  [
    "that is refused twice, and then never happens",
    ({ verify, attempt }) =>
      verify || attempt < 3 ? failed("none", { retryable: true }) : failed("unknown"),
    3,
    "a was sent 3 times and never happened: it broke",
  ],
])("a call of class V %s is sent as often as maxAttempts says", (_, outcome, sent, message) => {
  const lookup = write("v", { lookup: { tool: "find", arguments: {} } });
  const run = simulate(planOf([{ id: "a", tool: "v" }]), [lookup], { outcome });
  expect(run.calls.filter(({ call }) => !call.verify)).toHaveLength(sent);
  expect(run.records.get("a")).toMatchObject({ status: "FAILED", error: { message } });
});

test("look-ups of a class V call do not count as attempts after a crash", () => {
  const lookup = write("v", { lookup: { tool: "find", arguments: {} } });
  const records: StepRecord[] = [{ key: "a", stepId: "a", status: "RETRYING", attempts: 4, unsent: 2 }];
  const outcome = ({ verify }: Call) => failed(verify ? "none" : "unknown");
  const run = simulate(planOf([{ id: "a", tool: "v" }]), [lookup], { records, outcome });
  expect(run.calls.filter(({ call }) => !call.verify)).toHaveLength(1);
});

test("a deferred call does not count as an attempt and is made at its time", () => {
  let deferred = false;
  const run = simulate(planOf([{ id: "a", tool: "t" }]), [tool("t")], {
    outcome: () => {
      if (deferred) return completed(1);
      deferred = true;
      return { type: "deferred", untilAt: 500, waitReason: "limit" };
    },
  });
  expect(run.calls.map(({ from, call }) => [from, call.attempt])).toEqual([
    [0, 1],
    [500, 1],
  ]);
  expect(run.records.get("a")?.attempts).toBe(1);
});

test("cancel stops running calls, and every step has a last status", () => {
  const plan = planOf(graph({ a: [], b: ["a"], c: [] }));
  const run = simulate(plan, [tool("t")], {
    events: [{ type: "cancel", at: 5, reason: "No longer needed" }],
  });
  expect(run.statuses).toEqual({ a: "CANCELLED", b: "CANCELLED", c: "CANCELLED" });
  expect(run.finish).toMatchObject({ status: "CANCELLED", error: { message: "No longer needed" } });
  expect(run.endedAt).toBe(5);
});

test.each([
  ["K", write("t", { idempotency: "key" }), "IN_DOUBT"],
  ["U", write("t"), "IN_DOUBT"],
  ["R", tool("t"), "CANCELLED"],
] as const)("a class %s call whose answer is lost while cancelling is %s", (_, descriptor, status) => {
  const run = simulate(planOf([{ id: "a", tool: "t" }]), [descriptor], {
    events: [{ type: "cancel", at: 10, reason: "stop" }],
    outcome: () => failed("unknown"),
  });
  const lost = simulate(planOf([{ id: "a", tool: "t" }]), [descriptor], {
    events: [{ type: "cancel", at: 0, reason: "stop" }],
    records: [{ key: "a", stepId: "a", status: "RUNNING", attempts: 1 }],
    outcome: () => failed("unknown", { retryable: true }),
  });
  for (const { finish, statuses } of [run, lost]) {
    expect(finish?.status).toBe("CANCELLED");
    expect(statuses["a"]).toBe(status);
  }
});

test("a cancel after the last call changes nothing", () => {
  const run = simulate(planOf(graph({ a: [] })), [tool("t")], {
    events: [{ type: "cancel", at: 10, reason: "late" }],
    writeMs: 5,
  });
  expect(run.finish?.status).toBe("COMPLETED");
});

test("the deadline ends the plan EXPIRED", () => {
  const run = simulate(planOf(graph({ a: [], b: ["a"] })), [tool("t")], {
    events: [{ type: "deadline", at: 15 }],
  });
  expect(run.statuses).toEqual({ a: "COMPLETED", b: "CANCELLED" });
  expect(run.finish).toMatchObject({
    status: "EXPIRED",
    error: { code: "DEADLINE_EXCEEDED" },
    outputs: { a: {} },
  });
});

test("a paused plan finishes running calls, starts nothing, and continues when resumed", () => {
  const run = simulate(planOf(graph({ a: [], b: ["a"] })), [tool("t")], {
    events: [
      { type: "pause", at: 5 },
      { type: "resume", at: 100 },
    ],
  });
  expect(run.commands).toContainEqual({ type: "park", status: "PAUSED", reason: "paused" });
  expect(run.calls.map(({ from }) => from)).toEqual([0, 100]);
  expect(run.finish?.status).toBe("COMPLETED");
});

test("a step that needs approval waits for it, and a refusal fails it", () => {
  const plan = planOf([{ id: "a", tool: "t", approval: true }]);
  const waiting = simulate(plan, [tool("t")]).commands;
  const until = 604_800_000;
  expect(waiting).toContainEqual({ type: "park", status: "WAITING", reason: "approval", until });
  const approved = simulate(plan, [tool("t")], {
    events: [{ type: "approval", stepId: "a", approved: true, at: 50 }],
  });
  expect(approved.calls.map(({ from }) => from)).toEqual([50]);
  expect(approved.records.get("a")).toMatchObject({ status: "COMPLETED", approved: true });
  const refused = simulate(plan, [tool("t")], {
    events: [{ type: "approval", stepId: "a", approved: false, reason: "Too dear", at: 50 }],
  });
  expect(refused.records.get("a")).toMatchObject({
    status: "FAILED",
    error: { code: "APPROVAL_REFUSED", message: "Too dear" },
  });
});

test.each<[string, { approved: boolean; at: number }[], { status: string; calls: number; code?: string }]>([
  ["without a decision", [], { status: "FAILED", calls: 0, code: "APPROVAL_EXPIRED" }],
  ["in the last moment", [{ approved: true, at: 28_800_000 }], { status: "COMPLETED", calls: 1 }],
  [
    "too late",
    [{ approved: true, at: 28_800_001 }],
    { status: "FAILED", calls: 0, code: "APPROVAL_EXPIRED" },
  ],
])("an approval expires after approvalTimeoutMs: decided %s", (_, decisions, { status, calls, code }) => {
  const plan = planOf([{ id: "a", tool: "t", approval: true }], { approvalTimeoutMs: 28_800_000 });
  const events = decisions.map((one) => ({ type: "approval" as const, stepId: "a", ...one }));
  const run = simulate(plan, [tool("t")], { events, outlastsApprovals: true });
  expect(run.calls).toHaveLength(calls);
  expect(run.finish?.status).toBe(status);
  expect(run.records.get("a")?.error?.code).toBe(code);
});

test("an approval expires at its time after a crash, beside running calls, and while the plan is paused", () => {
  const plan = planOf(
    [
      { id: "a", tool: "t", approval: true },
      { id: "b", tool: "t" },
    ],
    { approvalTimeoutMs: 1_000, onStepFailure: "run-dependents" },
  );
  const records = [
    { key: "a", stepId: "a", status: "WAITING_APPROVAL", attempts: 0, expiresAt: 700 } as const,
  ];
  const beside = simulate(plan, [tool("t")], { records, durationMs: () => 5_000 });
  expect(beside.records.get("a")).toMatchObject({ status: "FAILED", error: { code: "APPROVAL_EXPIRED" } });
  expect(beside.calls.map(({ to }) => to)).toEqual([5_000]);
  const paused = simulate(plan, [tool("t")], { records, events: [{ type: "pause", at: 0 }] });
  expect(paused.records.get("a")?.status).toBe("FAILED");
  expect(paused.commands).toContainEqual({ type: "park", status: "PAUSED", reason: "paused", until: 700 });
});

test("an approval that arrives before the record is durable is applied", () => {
  const run = simulate(planOf([{ id: "a", tool: "t" }]), [tool("t", { requires_approval: true })], {
    writeMs: 20,
    events: [{ type: "approval", stepId: "a", approved: true, at: 10 }],
  });
  expect(run.finish?.status).toBe("COMPLETED");
});

test.each([
  [{ type: "completed", output: 7 } as const, "COMPLETED", 1],
  [{ type: "failed", error: { code: "X", message: "no", retryable: false } } as const, "FAILED", 1],
  [{ type: "retry" } as const, "COMPLETED", 2],
])("an operator settles a step in doubt by %o: %s", (resolution, status, calls) => {
  let first = true;
  const run = simulate(planOf([{ id: "a", tool: "w" }]), [write("w")], {
    outcome: () => {
      const outcome = first ? failed("unknown") : completed(1);
      first = false;
      return outcome;
    },
    events: [{ type: "resolve", key: "a", resolution, at: 100 }],
  });
  expect(run.statuses["a"]).toBe(status);
  expect(run.calls).toHaveLength(calls);
});
