import { expect, test } from "vitest";
import type { EngineEvent, Outcome, Resolution, StepRecord } from "../src/index.ts";
import { type Call, completed, failed, planOf, type Simulation, simulate, tool, write } from "./simulate.ts";

const BATCH = [write("w", { batch: { param: "list", max: 10 } })];
const plan = planOf([
  {
    id: "each",
    forEach: { items: [1, 2, 3, 4], errors: "stop", do: { tool: "w", arguments: { x: "<<item>>" } } },
  },
]);
const resolve = (item: number, resolution: Resolution, at: number): EngineEvent => ({
  type: "resolve",
  key: `each[${item}]`,
  resolution,
  at,
});
const answer = (call: Call) => {
  const { list } = call.arguments;
  return completed(Array.isArray(list) ? list.map((one) => ({ got: one })) : null);
};

test("only the items of a batch in doubt that an operator retries are sent again", () => {
  let calls = 0;
  const run = simulate(plan, BATCH, {
    outcome: (call) => (++calls === 1 ? failed("unknown") : answer(call)),
    events: [
      resolve(0, { type: "completed", output: { got: "by hand" } }, 100),
      resolve(1, { type: "retry" }, 100),
      resolve(2, { type: "completed", output: { got: "too" } }, 200),
      resolve(3, { type: "retry" }, 200),
    ],
  });
  expect(run.calls.map(({ call }) => [call.items, call.arguments["list"]])).toEqual([
    [
      [0, 1, 2, 3],
      [{ x: 1 }, { x: 2 }, { x: 3 }, { x: 4 }],
    ],
    [[1], [{ x: 2 }]],
    [[3], [{ x: 4 }]],
  ]);
  expect(run.finish?.status).toBe("COMPLETED");
  expect(run.records.get("each[1]")?.output).toEqual({ got: { x: 2 } });
});

test("items in doubt stay in doubt when another item of their batch fails", () => {
  let calls = 0;
  const run = simulate(plan, BATCH, {
    outcome: () => (++calls === 1 ? failed("unknown") : failed("reported")),
    events: [resolve(0, { type: "retry" }, 100)],
  });
  expect([0, 1, 2, 3].map((item) => run.records.get(`each[${item}]`)?.status)).toEqual([
    "FAILED",
    "IN_DOUBT",
    "IN_DOUBT",
    "IN_DOUBT",
  ]);
});

const LOST = failed("unknown", { retryable: true });
const DOUBTED = failed("unknown");
const CANCEL: EngineEvent = { type: "cancel", at: -1, reason: "enough" };
const KEYED_BATCH = [write("w", { idempotency: "key", batch: { param: "list", max: 10 } })];
const KEYED_ITEM = { key: "", stepId: "each", attempts: 1, mayHaveActed: true } as const;
/** A list with all items in doubt except these. */
const listInDoubt = (others: Partial<Record<number, StepRecord["status"]>>): StepRecord[] => [
  { key: "each", stepId: "each", status: "RUNNING", attempts: 0 },
  ...[0, 1, 2, 3].map((item) => {
    return { ...KEYED_ITEM, key: `each[${item}]`, item, status: others[item] ?? "IN_DOUBT" };
  }),
];
/** The durable statuses of an item in order, and "sent" for each call that contained it. */
function historyOf({ commands }: Simulation, item: number): string[] {
  return commands.flatMap((command) => {
    if (command.type === "call") return command.call.items?.includes(item) ? ["sent"] : [];
    if (command.type !== "record") return [];
    return command.records.filter(({ key }) => key === `each[${item}]`).map(({ status }) => status);
  });
}

test("a batch with a key is sent with all items when an operator retries one of them", () => {
  const run = simulate(plan, KEYED_BATCH, {
    outcome: (call, now) => (now < 60_000 ? failed("unknown") : answer(call)),
    events: [resolve(1, { type: "retry" }, 60_000)],
    writeMs: 1,
  });
  expect(run.calls.map(({ call, from }) => [call.items, from])).toEqual([
    [[0, 1, 2, 3], 1],
    [[0, 1, 2, 3], 60_002],
  ]);
  for (const item of [0, 1, 2, 3])
    expect(historyOf(run, item)).toEqual(["PENDING", "sent", "IN_DOUBT", "PENDING", "sent", "COMPLETED"]);
  expect(run.finish?.status).toBe("COMPLETED");
  expect([run.state.inDoubt, run.state.stepsById.get("each")?.forEach?.inDoubt]).toEqual([0, 0]);
});

// The other step occupies the only slot until 1,000 ms; both decisions come earlier. A pause keeps offered
// calls until the resume.
test.each<[string, StepRecord["status"], Outcome | undefined, number[]]>([
  ["is sent when the third item is durably out of doubt", "IN_DOUBT", undefined, [1_001]],
  ["waits between two calls, as its contract requires", "COMPLETED", LOST, [1_000, 2_010]],
  ["is in doubt again when its answer is lost", "COMPLETED", DOUBTED, [1_000]],
])("a batch with two items that an operator retries %s", (_, third, first, at) => {
  const busy = planOf([...plan.steps, { id: "busy", tool: "slow" }], { maxParallel: 1 });
  let calls = 0;
  const run = simulate(busy, [...KEYED_BATCH, tool("slow")], {
    records: listInDoubt({ 1: "COMPLETED", 2: third }),
    outcome: (call) => (call.tool === "w" && ++calls === 1 && first ? first : answer(call)),
    durationMs: (call) => (call.tool === "slow" ? 1_000 : 10),
    events: [
      resolve(3, { type: "retry" }, 100),
      resolve(0, { type: "retry" }, 200),
      { type: "pause", at: 1_005 },
      { type: "resume", at: 1_100 },
    ],
    writeMs: 1,
  });
  expect(run.calls.filter(({ call }) => call.tool === "w").map(({ from }) => from)).toEqual(at);
});

test("items in doubt may have acted until the repeated batch settles them", () => {
  const GONE = failed("none", { code: "TOOL_NOT_FOUND" });
  const run = simulate(plan, KEYED_BATCH, {
    records: listInDoubt({}),
    outcome: () => GONE,
    events: [resolve(1, { type: "retry" }, 100)],
  });
  const statuses = [0, 1, 2, 3].map((item) => run.records.get(`each[${item}]`)?.status);
  expect(statuses).toEqual(["IN_DOUBT", "IN_DOUBT", "IN_DOUBT", "IN_DOUBT"]);
  expect(run.park).toMatchObject({ status: "WAITING", reason: "in doubt" });
  expect(run.state.inDoubt).toBe(4);
});

test("items that the tool reported as in_doubt may have acted, also in a plan that is cancelled before the call", () => {
  const results = [0, 1, 2, 3].map((index) => ({ index, status: "in_doubt" }));
  let calls = 0;
  const run = simulate(plan, KEYED_BATCH, {
    outcome: (call) => (++calls === 1 ? completed({ results, summary: {} }) : answer(call)),
    events: [resolve(1, { type: "retry" }, 100), { ...CANCEL, at: 115 }],
    writeMs: 10,
  });
  const statuses = [0, 1, 2, 3].map((item) => run.records.get(`each[${item}]`)?.status);
  expect(statuses).toEqual(["COMPLETED", "COMPLETED", "COMPLETED", "COMPLETED"]);
});

test.each<[string, Partial<Record<number, StepRecord["status"]>>, EngineEvent[]]>([
  ["", { 1: "RUNNING" }, []],
  [" of an executor that had started to send it", { 1: "RUNNING", 2: "PENDING" }, []],
  [" when its plan is being cancelled", { 1: "RUNNING" }, [CANCEL]],
  [" of a cancelled plan", { 1: "RUNNING", 2: "PENDING" }, [CANCEL]],
])(
  "a batch with a key is sent with all items after a crash%s, including items in doubt",
  (_, others, events) => {
    const run = simulate(plan, KEYED_BATCH, {
      records: listInDoubt(others),
      outcome: answer,
      events,
      writeMs: 1,
    });
    expect(run.calls.map(({ call }) => [call.key, call.items])).toEqual([["each[0..3]", [0, 1, 2, 3]]]);
    expect(historyOf(run, 0)).toEqual(["PENDING", "sent", "COMPLETED"]);
    expect(run.finish?.status).toBe("COMPLETED");
    expect(run.state.inDoubt).toBe(0);
  },
);

test.each<[string, EngineEvent[]]>([
  ["its plan is cancelled", [CANCEL]],
  ["its list has stopped", []],
])(
  "an item whose intent was lost in a crash is not closed while its batch is sent with all items: %s",
  (_, events) => {
    const small = [write("w", { idempotency: "key", batch: { param: "list", max: 2 } })];
    const records = listInDoubt({ 0: "RUNNING", 1: "PENDING", 2: "FAILED", 3: "COMPLETED" });
    const run = simulate(plan, small, {
      records: records.map((record) => (record.item === 1 ? { ...record, mayHaveActed: false } : record)),
      outcome: answer,
      events,
    });
    expect(run.calls.map(({ call }) => call.items)).toEqual([[0, 1]]);
    expect([0, 1].map((item) => run.records.get(`each[${item}]`)?.status)).toEqual([
      "COMPLETED",
      "COMPLETED",
    ]);
  },
);

test("a call that an operator retries is settled when its plan is cancelled meanwhile", () => {
  const single = planOf([{ id: "a", tool: "w" }]);
  const tools = [write("w", { idempotency: "key" })];
  const records: StepRecord[] = [{ ...KEYED_ITEM, key: "a", stepId: "a", status: "PENDING" }];
  const run = simulate(single, tools, { records, events: [CANCEL] });
  expect(run.calls.map(({ call }) => call.settles)).toEqual([true]);
  expect(run.statuses["a"]).toBe("COMPLETED");
});

test("an item that an operator retries is called, not skipped, when its list stops", () => {
  const tools = [write("w", { idempotency: "key", max_concurrency: 1 })];
  const run = simulate(plan, tools, {
    records: listInDoubt({ 0: "RUNNING", 1: "COMPLETED", 3: "COMPLETED" }),
    outcome: ({ key }) => (key === "each[0]" ? failed("reported") : completed("late")),
    events: [resolve(2, { type: "retry" }, 5)],
  });
  expect([0, 2].map((item) => run.records.get(`each[${item}]`)?.status)).toEqual(["FAILED", "COMPLETED"]);
  expect(run.finish?.status).toBe("FAILED");
});

test("when the tool must not be called any more, the other items of the batch still wait for the operator", () => {
  const refusals = new Map([["w", { code: "TOOL_CHANGED", message: "it changed", retryable: false }]]);
  const run = simulate(plan, KEYED_BATCH, {
    records: listInDoubt({}),
    refusals,
    events: [resolve(1, { type: "retry" }, 100)],
  });
  expect(run.calls).toEqual([]);
  expect([0, 1].map((item) => historyOf(run, item))).toEqual([[], ["PENDING", "IN_DOUBT"]]);
  expect(run.state.inDoubt).toBe(4);
});

test("only retried items are sent again after a crash between two decisions", () => {
  const records: StepRecord[] = [
    { key: "each", stepId: "each", status: "RUNNING", attempts: 0 },
    { key: "each[0]", stepId: "each", item: 0, status: "COMPLETED", attempts: 1, output: 1 },
    { key: "each[1]", stepId: "each", item: 1, status: "PENDING", attempts: 1 },
    { key: "each[2]", stepId: "each", item: 2, status: "IN_DOUBT", attempts: 1 },
    { key: "each[3]", stepId: "each", item: 3, status: "COMPLETED", attempts: 1, output: 4 },
  ];
  const run = simulate(plan, BATCH, {
    records,
    outcome: answer,
    events: [resolve(2, { type: "completed", output: 3 }, 100)],
  });
  expect(run.calls.map(({ call }) => call.items)).toEqual([[1]]);
  expect(run.finish?.status).toBe("COMPLETED");
});

test("a batch that may be repeated is sent with all items after a crash, even when some have a result", () => {
  const tools = [write("w", { idempotency: "key", batch: { param: "list", max: 10 } })];
  const records: StepRecord[] = [
    { key: "each", stepId: "each", status: "RUNNING", attempts: 0 },
    { key: "each[0]", stepId: "each", item: 0, status: "COMPLETED", attempts: 1, output: { got: { x: 1 } } },
    ...[1, 2, 3].map((item): StepRecord => {
      return { key: `each[${item}]`, stepId: "each", item, status: "RUNNING", attempts: 1 };
    }),
  ];
  const run = simulate(plan, tools, { records, outcome: answer });
  expect(run.calls.map(({ call }) => [call.key, call.items])).toEqual([["each[0..3]", [0, 1, 2, 3]]]);
});
