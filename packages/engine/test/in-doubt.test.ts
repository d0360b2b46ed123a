import { expect, test } from "vitest";
import type { EngineEvent, Resolution, StepRecord } from "../src/index.ts";
import { type Call, completed, failed, planOf, simulate, write } from "./simulate.ts";

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

test("of a batch in doubt only what an operator wants again is sent again", () => {
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

test("what is in doubt stays so when another item of its batch fails", () => {
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

test("the same holds after a crash between two words", () => {
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

test("a batch that may be repeated is sent whole after a crash, whatever of it is known", () => {
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
