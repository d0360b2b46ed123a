import { exactNumberOf, type JsonObject, type JsonValue, stringifyExactJson } from "@planwright/plan";
import { expect, test } from "vitest";
import type { StepRecord } from "../src/index.ts";
import { type Call, completed, failed, planOf, simulate, tool, write } from "./simulate.ts";

const each = (forEach: JsonObject, more: JsonObject = {}) => ({
  id: "f",
  forEach: { do: { tool: "t", arguments: { x: "<<item>>" } }, ...forEach },
  ...more,
});
const echo = (call: Call) => completed(call.arguments["x"] ?? null);
const failingAt =
  (...bad: JsonValue[]) =>
  (call: Call) =>
    bad.includes(call.arguments["x"] ?? null) ? failed() : echo(call);

test("the output is the envelope in input order, whichever item finishes first", () => {
  const run = simulate(planOf([each({ items: ["c", "a", "b"] })]), [tool("t")], {
    outcome: failingAt("a"),
    durationMs: ({ arguments: args }) => ({ c: 30, a: 10, b: 20 })[String(args["x"])] ?? 0,
  });
  expect(run.finish?.status).toBe("PARTIAL");
  expect(run.finish?.outputs?.["f"]).toEqual({
    results: [
      { index: 0, key: "0", status: "ok", data: "c" },
      { index: 1, key: "1", status: "error", error: { code: "TOOL_FAILED", message: "it broke" } },
      { index: 2, key: "2", status: "ok", data: "b" },
    ],
    summary: { ok: 2, error: 1 },
  });
});

test("all item records exist before the first call", () => {
  const run = simulate(planOf([each({ items: [1, 2] })]), [tool("t")], { outcome: echo });
  const kinds = run.commands.map((command) => command.type);
  const first = run.commands[0];
  expect(kinds.indexOf("call")).toBeGreaterThan(kinds.indexOf("record"));
  expect(first).toEqual({
    type: "record",
    isRepeatable: false,
    records: [
      { key: "f", stepId: "f", status: "RUNNING", attempts: 0 },
      { key: "f[0]", stepId: "f", item: 0, status: "PENDING", attempts: 0 },
      { key: "f[1]", stepId: "f", item: 1, status: "PENDING", attempts: 0 },
    ],
  });
});

test("an empty list completes with an empty envelope, also with minSuccess", () => {
  const run = simulate(planOf([each({ items: [], minSuccess: 1 })]), [tool("t")]);
  expect(run.finish?.outputs?.["f"]).toEqual({ results: [], summary: { ok: 0, error: 0 } });
});

test.each<[string, JsonObject, string]>([
  ["a text", { items: "<<a.text>>" }, "ITEMS_INVALID"],
  ["a number", { items: "<<a.count>>" }, "ITEMS_INVALID"],
  ["a field that is not there", { items: "<<a.nothing>>" }, "REFERENCE_MISSING"],
  ["keys that repeat", { items: [{ k: 1 }, { k: 1 }], key: "<<item.k>>" }, "ITEMS_INVALID"],
  ["keys that are objects", { items: [{ k: {} }], key: "<<item.k>>" }, "ITEMS_INVALID"],
])("items from %s fail the step", (_, forEach, code) => {
  const run = simulate(planOf([{ id: "a", tool: "t" }, each(forEach)]), [tool("t")], {
    outcome: () => completed({ text: "no list", count: 5 }),
  });
  expect(run.records.get("f")).toMatchObject({ status: "FAILED", error: { code } });
});

test.each<[string, JsonValue, JsonObject, JsonValue[], string]>([
  ["one object", { id: "B-1" }, { items: "<<a>>" }, ["B-1"], "is one object: it is read as a list of one"],
  ["one object in a field", { rows: { id: 7 } }, { items: "<<a.rows>>" }, [7], "is one object"],
  ["null", null, { items: "<<a>>" }, [], "is null: it is read as an empty list"],
  ["null in a field", { rows: null }, { items: "<<a.rows>>" }, [], "is null"],
])("items that a server unwrapped to %s are a list, with a warning", (_, answer, forEach, ids, warning) => {
  const run = simulate(
    planOf([
      { id: "a", tool: "t" },
      each({ ...forEach, do: { tool: "t", arguments: { id: "<<item.id>>" } } }),
    ]),
    [tool("t")],
    { outcome: ({ stepId }) => completed(stepId === "a" ? answer : {}), memoryBytes: 0 },
  );
  expect(run.finish?.status).toBe("COMPLETED");
  expect(run.calls.slice(1).map(({ call }) => call.arguments["id"])).toEqual(ids);
  expect(run.records.get("f")?.warnings).toEqual([expect.stringContaining(warning)]);
});

test("a field that is missing is no empty list, also where the policy gives null for it", () => {
  const steps = [{ id: "a", tool: "t" }, each({ items: "<<a.rows>>" })];
  const run = simulate(planOf(steps, { onMissingField: "null" }), [tool("t")]);
  expect(run.records.get("f")).toMatchObject({ status: "FAILED", error: { code: "ITEMS_INVALID" } });
});

test("more items than the plan's limit fail the step", () => {
  const plan = planOf([each({ items: [1, 2, 3] })]);
  const run = simulate({ ...plan, limits: { ...plan.limits, maxItems: 2 } }, [tool("t")]);
  expect(run.records.get("f")?.error?.message).toContain("has 3 items; at most 2");
});

test("alias, index and key name each item", () => {
  const items = [{ id: "p" }, { id: "q" }];
  const steps = [
    {
      id: "f",
      forEach: {
        items,
        as: "city",
        key: "<<city.id>>",
        do: { tool: "t", arguments: { x: "<<city.id>>-<<index>>" } },
      },
    },
  ];
  const run = simulate(planOf(steps), [tool("t")], { outcome: echo });
  expect(run.finish?.outputs?.["f"]).toMatchObject({
    results: [
      { key: "p", data: "p-0" },
      { key: "q", data: "q-1" },
    ],
  });
});

test("a key that is a number beyond 2^53 is the text of its digits", () => {
  const key = (id: string) => ({ id: exactNumberOf(id) });
  const items = [key("9007199254740993"), key("9007199254740995")];
  const steps = [
    { id: "f", forEach: { items, key: "<<item.id>>", do: { tool: "t", arguments: { x: "<<index>>" } } } },
  ];
  const run = simulate(planOf(steps), [tool("t")], { outcome: echo });
  expect(stringifyExactJson(run.finish?.outputs ?? {})).toContain('"key":"9007199254740995"');
});

test.each<[JsonObject, number]>([
  [{ concurrency: 2 }, 2],
  [{}, 4],
])("with %o at most %i items run at once, and that many do", (more, atOnce) => {
  const run = simulate(
    planOf([each({ items: [...Array(12).keys()], ...more })], { maxParallel: 4 }),
    [tool("t")],
    {
      outcome: echo,
    },
  );
  for (const from of new Set(run.calls.map((span) => span.from))) {
    expect(run.calls.filter((span) => span.from === from)).toHaveLength(atOnce);
  }
});

test("errors stop: after the first failure no item starts and the step fails", () => {
  const forEach = { items: [1, 2, 3, 4, 5, 6], errors: "stop", concurrency: 2 };
  const run = simulate(planOf([each(forEach)]), [tool("t")], { outcome: failingAt(1) });
  expect(run.calls).toHaveLength(2);
  expect(run.records.get("f")).toMatchObject({ status: "FAILED", error: { code: "ITEMS_FAILED" } });
  expect(run.records.get("f[1]")?.status).toBe("COMPLETED");
  expect(run.records.get("f[5]")?.status).toBe("SKIPPED");
});

test.each<[number, string]>([
  [2, "COMPLETED"],
  [3, "FAILED"],
  [0.5, "COMPLETED"],
  [0.6, "FAILED"],
])("minSuccess %d with two of four successes: %s", (minSuccess, status) => {
  const run = simulate(planOf([each({ items: [1, 2, 3, 4], minSuccess })]), [tool("t")], {
    outcome: failingAt(1, 2),
  });
  expect(run.statuses["f"]).toBe(status);
});

test.each<[share: number, items: number, ok: number, status: string]>([
  [0.55, 100, 55, "COMPLETED"],
  [0.55, 100, 54, "FAILED"],
  [0.07, 100, 7, "COMPLETED"],
  [0.07, 100, 6, "FAILED"],
])("minSuccess %d of %d items is a decimal share: %d successes are %s", (minSuccess, count, ok, status) => {
  const items = Array.from({ length: count }, (_, index) => index);
  const run = simulate(planOf([each({ items, minSuccess })]), [tool("t")], {
    outcome: failingAt(...items.slice(ok)),
  });
  expect(run.statuses["f"]).toBe(status);
});

test("attempts are counted for each item", () => {
  const seen = new Map<JsonValue, number>();
  const run = simulate(planOf([each({ items: [1, 2] })]), [tool("t")], {
    outcome: (call) => {
      const x = call.arguments["x"] ?? null;
      const count = (seen.get(x) ?? 0) + 1;
      seen.set(x, count);
      return x === 2 && count < 3 ? failed("unknown", { retryable: true }) : echo(call);
    },
  });
  expect([run.records.get("f[0]")?.attempts, run.records.get("f[1]")?.attempts]).toEqual([1, 3]);
});

test("an item in doubt is an entry of the envelope", () => {
  const run = simulate(planOf([each({ items: [1, 2], errors: "collect" })]), [write("t")], {
    outcome: (call) => (call.arguments["x"] === 1 ? failed("unknown") : echo(call)),
  });
  expect(run.finish?.outputs?.["f"]).toMatchObject({ results: [{ status: "in_doubt" }, { status: "ok" }] });
  expect(run.finish).toMatchObject({ status: "PARTIAL", error: { code: "ITEMS_FAILED" } });
});

test("errors stop: an item in doubt waits for an operator", () => {
  const plan = planOf([each({ items: [1, 2], errors: "stop" })]);
  const outcome = (call: Call) => (call.arguments["x"] === 1 ? failed("unknown") : echo(call));
  expect(simulate(plan, [write("t")], { outcome }).park?.reason).toBe("in doubt");
  const settled = simulate(plan, [write("t")], {
    outcome,
    events: [{ type: "resolve", key: "f[0]", resolution: { type: "completed", output: "seen" }, at: 100 }],
  });
  expect(settled.finish?.outputs?.["f"]).toMatchObject({ results: [{ data: "seen" }, { data: 2 }] });
});

test("later steps read results with a wildcard", () => {
  const plan = planOf([
    each({ items: [1, 2] }),
    { id: "sum", tool: "t", arguments: { x: "<<f.results[*].data>>" } },
  ]);
  expect(simulate(plan, [tool("t")], { outcome: echo }).finish?.outputs?.["sum"]).toEqual([1, 2]);
});

const BATCH = { batch: { param: "list", max: 4, result_path: "done" } };

test("more than three items and a tool with batch: calls of up to batch.max, results in order", () => {
  const run = simulate(planOf([each({ items: [0, 1, 2, 3, 4, 5] })]), [tool("t", BATCH)], {
    outcome: (call) => {
      const list = call.arguments["list"];
      if (!Array.isArray(list)) return failed();
      return completed({
        done: list.map((one) => {
          const x = (one as JsonObject)["x"] ?? null;
          return x === 4 ? { error: { code: "NO_SUCH", message: "gone" } } : { x };
        }),
      });
    },
  });
  expect(run.calls.map(({ call }) => [call.key, call.items])).toEqual([
    ["f[0..3]", [0, 1, 2, 3]],
    ["f[4..5]", [4, 5]],
  ]);
  expect(run.finish?.outputs?.["f"]).toMatchObject({
    results: [
      { data: { x: 0 } },
      {},
      {},
      {},
      { status: "error", error: { code: "NO_SUCH" } },
      { data: { x: 5 } },
    ],
    summary: { ok: 5, error: 1 },
  });
});

test("three items are called one by one", () => {
  const run = simulate(planOf([each({ items: [0, 1, 2] })]), [tool("t", BATCH)], { outcome: echo });
  expect(run.calls.map(({ call }) => call.arguments)).toEqual([{ x: 0 }, { x: 1 }, { x: 2 }]);
});

test("the planned batch parameter gives the list, other arguments are shared", () => {
  const steps = [
    {
      id: "f",
      forEach: { items: [1, 2, 3, 4], do: { tool: "t", arguments: { list: ["<<item>>"], unit: "c" } } },
    },
  ];
  const run = simulate(planOf(steps), [tool("t", BATCH)], {
    outcome: () => completed({ done: [1, 2, 3, 4] }),
  });
  expect(run.calls.map(({ call }) => call.arguments)).toEqual([{ list: [1, 2, 3, 4], unit: "c" }]);
});

test.each([1, 3, 4, 5, 9])(
  "with the planned batch parameter, %d items have outputs of the same shape",
  (count) => {
    const items = Array.from({ length: count }, (_, index) => index);
    const forEach = { items, do: { tool: "t", arguments: { list: ["<<item>>"] } } };
    const run = simulate(planOf([{ id: "f", forEach }]), [tool("t", BATCH)], {
      outcome: ({ arguments: { list } }) =>
        Array.isArray(list) ? completed({ done: list.map((x) => ({ x })) }) : failed(),
    });
    expect(run.finish?.outputs?.["f"]).toMatchObject({ results: items.map((x) => ({ data: { x } })) });
  },
);

test("with the planned batch parameter, the one item of a call may fail by its result", () => {
  const forEach = { items: [7], do: { tool: "t", arguments: { list: ["<<item>>"] } } };
  const run = simulate(planOf([{ id: "f", forEach }]), [tool("t", BATCH)], {
    outcome: () => completed({ done: [{ error: { code: "NO_SUCH", message: "gone" } }] }),
  });
  expect(run.records.get("f[0]")).toMatchObject({ status: "FAILED", error: { code: "NO_SUCH" } });
});

test("an answer to one item that is no list of one result is its output", () => {
  const forEach = { items: [[1, 2]], do: { tool: "t", arguments: { list: "<<item>>" } } };
  const run = simulate(planOf([{ id: "f", forEach }]), [tool("t", BATCH)], {
    outcome: () => completed({ done: [10, 20] }),
  });
  expect(run.finish?.outputs?.["f"]).toMatchObject({ results: [{ data: { done: [10, 20] } }] });
});

test("a shared argument that depends on the item excludes batches", () => {
  const steps = [
    {
      id: "f",
      forEach: { items: [1, 2, 3, 4], do: { tool: "t", arguments: { list: ["<<item>>"], at: "<<index>>" } } },
    },
  ];
  expect(simulate(planOf(steps), [tool("t", BATCH)]).calls).toHaveLength(4);
});

test("a secret stays where the plan wrote it: all items of a batch share it, or no batches are made", () => {
  const keysOf = (args: JsonObject) => {
    const steps = [{ id: "f", forEach: { items: [1, 2, 3, 4], do: { tool: "t", arguments: args } } }];
    const run = simulate(planOf(steps), [tool("t", BATCH)], { outcome: echo });
    return run.calls.map(({ call }) => call.key);
  };
  const single = ["f[0]", "f[1]", "f[2]", "f[3]"];
  expect(keysOf({ x: "<<item>>", token: "secret://t" })).toEqual(single);
  expect(keysOf({ list: ["secret://t"], x: "c" })).toEqual(single);
  expect(keysOf({ list: ["<<item>>"], token: "secret://t" })).toEqual(["f[0..3]"]);
});

test("a batch answer of the wrong length fails its items", () => {
  const run = simulate(planOf([each({ items: [0, 1, 2, 3] })]), [tool("t", BATCH)], {
    outcome: () => completed({ done: [1] }),
  });
  expect(run.records.get("f[3]")?.error?.code).toBe("TOOL_RESULT_INVALID");
});

test("ten thousand items complete", () => {
  const items = Array.from({ length: 10_000 }, (_, index) => index);
  const run = simulate(planOf([each({ items })], { maxParallel: 256 }), [tool("t")], { outcome: echo });
  expect(run.finish?.outputs?.["f"]).toMatchObject({ summary: { ok: 10_000, error: 0 } });
});

test("after a crash only the missing items are called, and existing records are not stored again", () => {
  const records: StepRecord[] = [
    { key: "f", stepId: "f", status: "RUNNING", attempts: 0 },
    { key: "f[0]", stepId: "f", item: 0, status: "COMPLETED", attempts: 1, output: "kept" },
    { key: "f[1]", stepId: "f", item: 1, status: "PENDING", attempts: 0 },
  ];
  const run = simulate(planOf([each({ items: [1, 2, 3] })]), [tool("t")], { records, outcome: echo });
  expect(run.calls.map(({ call }) => call.key)).toEqual(["f[1]", "f[2]"]);
  expect(run.commands[0]).toEqual({
    type: "record",
    isRepeatable: false,
    records: [{ key: "f[2]", stepId: "f", item: 2, status: "PENDING", attempts: 0 }],
  });
  expect(run.finish?.outputs?.["f"]).toMatchObject({ results: [{ data: "kept" }, { data: 2 }, { data: 3 }] });
});

test.each(["stop", "collect"])(
  "a plan that is cancelled does not wait for items in doubt (errors: %s)",
  (errors) => {
    const run = simulate(planOf([each({ items: [1, 2], concurrency: 1, errors })]), [write("t")], {
      events: [{ type: "cancel", at: 10, reason: "stop" }],
      outcome: () => failed("unknown"),
    });
    expect(run.finish?.status).toBe("CANCELLED");
    expect([...run.records.values()].map(({ key, status }) => [key, status])).toEqual([
      ["f", "CANCELLED"],
      ["f[0]", "IN_DOUBT"],
      ["f[1]", "CANCELLED"],
    ]);
  },
);

test("a list with one item, in doubt, does not delay the end of its plan", () => {
  const run = simulate(planOf([each({ items: [1], errors: "stop" })]), [write("t")], {
    events: [{ type: "deadline", at: 10 }],
    outcome: () => failed("unknown"),
  });
  expect(run.finish?.status).toBe("EXPIRED");
  expect(run.statuses).toEqual({ f: "CANCELLED" });
});

test("an operator's decision on an item is ignored once the end of its list is being stored", () => {
  const records: StepRecord[] = [
    { key: "f", stepId: "f", status: "RUNNING", attempts: 0 },
    { key: "f[0]", stepId: "f", item: 0, status: "IN_DOUBT", attempts: 1 },
  ];
  const run = simulate(planOf([each({ items: [1], errors: "stop" })]), [write("t")], {
    records,
    writeMs: 2,
    events: [
      { type: "cancel", at: 0, reason: "stop" },
      { type: "resolve", key: "f[0]", resolution: { type: "retry" }, at: 0 },
    ],
  });
  expect(run.finish?.status).toBe("CANCELLED");
  expect([...run.records.values()].map(({ status }) => status)).toEqual(["CANCELLED", "IN_DOUBT"]);
});

const STOCKED = { gt: ["<<item.stock>>", 0] };
const SHELF = [
  { n: "a", stock: 2 },
  { n: "b", stock: 0 },
  { n: "c", stock: 1 },
];
const stocked = (forEach: JsonObject = {}) =>
  each({ items: SHELF, when: STOCKED, do: { tool: "t", arguments: { x: "<<item.n>>" } }, ...forEach });
const statusesOf = ({ records }: { records: ReadonlyMap<string, StepRecord> }) =>
  Object.fromEntries([...records].map(([key, { status, error }]) => [key, error?.code ?? status]));

test("an item whose condition is false is SKIPPED, is not called, and is counted beside the results", () => {
  const reader = { id: "r", tool: "t", arguments: { x: "<<f.results[*].data>>" } };
  const run = simulate(planOf([stocked(), reader]), [tool("t")], { outcome: echo });
  expect(run.calls.map(({ call }) => [call.key, call.arguments["x"]])).toEqual([
    ["f[0]", "a"],
    ["f[2]", "c"],
    ["r", ["a", "c"]],
  ]);
  expect(run.records.get("f[1]")).toMatchObject({ status: "SKIPPED", error: { code: "CONDITION_FALSE" } });
  expect(run.finish).toMatchObject({ status: "COMPLETED" });
  expect(run.finish?.outputs?.["f"]).toEqual({
    results: [
      { index: 0, key: "0", status: "ok", data: "a" },
      { index: 2, key: "2", status: "ok", data: "c" },
    ],
    summary: { ok: 2, error: 0, skipped: 1 },
  });
});

test.each<[string, JsonObject, JsonValue[], object]>([
  ["a share of the called items", { minSuccess: 0.9 }, [], { status: "COMPLETED" }],
  [
    "a share that failed items do not reach",
    { minSuccess: 0.9, errors: "collect" },
    ["c"],
    { status: "FAILED" },
  ],
  ["a number of the called items", { minSuccess: 2 }, [], { status: "COMPLETED" }],
  ["more than are called", { minSuccess: 3 }, [], { status: "FAILED" }],
  ["no item is called", { when: { gt: ["<<item.stock>>", 9] }, minSuccess: 3 }, [], { status: "COMPLETED" }],
])("skipped items do not count for minSuccess: %s", (_, forEach, bad, expected) => {
  const run = simulate(planOf([stocked(forEach)]), [tool("t")], { outcome: failingAt(...bad) });
  expect(run.records.get("f")).toMatchObject(expected);
  if (forEach["when"]) expect(run.calls).toEqual([]);
});

test("a list that failed says how many of the called items succeeded", () => {
  const run = simulate(planOf([stocked({ minSuccess: 3 })]), [tool("t")], { outcome: failingAt("c") });
  expect(run.records.get("f")?.error?.message).toBe(
    "1 of 2 items succeeded (1 skipped by their condition), which is too few; first: item 2: it broke",
  );
});

test.each<[string, object, string]>([
  [
    "collect",
    { f: "COMPLETED", "f[0]": "COMPLETED", "f[1]": "CONDITION_INVALID", "f[2]": "CONDITION_FALSE" },
    "PARTIAL",
  ],
  [
    "stop",
    { f: "ITEMS_FAILED", "f[0]": "ITEMS_FAILED", "f[1]": "CONDITION_INVALID", "f[2]": "CONDITION_FALSE" },
    "FAILED",
  ],
])(
  "a condition without an answer fails its item like a failed call (errors: %s)",
  (errors, statuses, status) => {
    const items = [
      { n: "a", stock: 2 },
      { n: "b", stock: null },
      { n: "c", stock: 0 },
    ];
    const run = simulate(planOf([stocked({ items, errors })]), [tool("t")], { outcome: echo });
    expect(statusesOf(run)).toEqual(statuses);
    expect(run.finish?.status).toBe(status);
  },
);

test("batches have only called items, and their sizes count these", () => {
  const items = [1, 0, 3, 4, 0, 6, 7].map((stock) => ({ stock }));
  const call = { tool: "t", arguments: { x: "<<item.stock>>" } };
  const run = simulate(
    planOf([stocked({ items, do: call })]),
    [tool("t", { batch: { param: "list", max: 3 } })],
    {
      outcome: ({ arguments: { list } }) => completed(Array.isArray(list) ? list : []),
    },
  );
  expect(run.calls.map(({ call: { key, items: sent } }) => [key, sent])).toEqual([
    ["f[0..3]", [0, 2, 3]],
    ["f[5..6]", [5, 6]],
  ]);
  expect(run.finish?.outputs?.["f"]).toMatchObject({ summary: { ok: 5, error: 0, skipped: 2 } });
});

test("a condition of items may read other steps and their statuses, and the operator approves called items only", () => {
  const steps = [
    { id: "a", tool: "t", arguments: { x: 1 } },
    { id: "b", tool: "t", arguments: { x: 2 }, onError: "fail-forward" },
    {
      ...stocked({ when: { all: [{ gt: ["<<item.stock>>", "<<a>>"] }, { status: ["b", "FAILED"] }] } }),
      approval: true,
    },
  ];
  const run = simulate(planOf(steps), [tool("t")], {
    outcome: failingAt(2),
    events: [{ type: "approval", stepId: "f", approved: true, at: 1_000 }],
  });
  const asked = run.commands.flatMap((command) => (command.type === "record" ? command.records : []));
  expect(asked.find(({ status }) => status === "WAITING_APPROVAL")?.arguments).toEqual({
    calls: { "f[0]": { x: "a" } },
  });
  expect(run.calls.map(({ call }) => call.key)).toEqual(["a", "b", "f[0]"]);
});

test("after a crash that kept only the expansion, an item whose condition is false is still skipped", () => {
  const records: StepRecord[] = [
    { key: "f", stepId: "f", status: "RUNNING", attempts: 0 },
    ...[0, 1, 2].map((item) => ({
      key: `f[${item}]`,
      stepId: "f",
      item,
      status: "PENDING" as const,
      attempts: 0,
    })),
  ];
  const run = simulate(planOf([stocked()]), [tool("t")], { records, outcome: echo });
  expect(run.calls.map(({ call }) => call.key)).toEqual(["f[0]", "f[2]"]);
  expect(run.records.get("f[1]")?.status).toBe("SKIPPED");
});

test("a completed item of an earlier version stays, whatever its condition says now", () => {
  const records: StepRecord[] = [
    {
      key: "f[1]",
      stepId: "f",
      item: 1,
      status: "COMPLETED",
      attempts: 1,
      output: "B",
      carriedFrom: { planId: "plan_1", key: "f[1]" },
    },
  ];
  const run = simulate(planOf([stocked()]), [tool("t")], { records, outcome: echo });
  expect(run.finish?.outputs?.["f"]).toMatchObject({
    results: [{ data: "a" }, { index: 1, data: "B" }, { data: "c" }],
    summary: { ok: 3, error: 0, skipped: 0 },
  });
});
