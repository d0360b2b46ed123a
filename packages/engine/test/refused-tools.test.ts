import { expect, test } from "vitest";
import type { StepRecord } from "../src/index.ts";
import { planOf, simulate, tool, write } from "./simulate.ts";

const error = { code: "TOOL_CHANGED", message: "Tool pay has changed", retryable: false };
const refusals = new Map([["pay", error]]);
const TOOLS = [
  tool("read"),
  write("pay", { idempotency: "key" }),
  tool("login"),
  tool("x/login", {}, { server: "x" }),
  write("enter", { depends_on: ["login"] }, { server: "x" }),
];

test("a step whose tool is refused fails with the reason, without a call; other steps follow the policy", () => {
  const plan = planOf(
    [
      { id: "a", tool: "read" },
      { id: "b", tool: "pay", dependsOn: ["a"] },
      { id: "c", forEach: { items: [1, 2], do: { tool: "pay" } } },
      { id: "d", tool: "read", dependsOn: ["b"] },
    ],
    { onStepFailure: "fail-forward" },
  );
  const run = simulate(plan, TOOLS, { refusals });
  expect(run.calls.map(({ call }) => call.key)).toEqual(["a"]);
  expect(run.statuses).toEqual({ a: "COMPLETED", b: "FAILED", c: "FAILED", d: "SKIPPED" });
  expect(run.records.get("b")).toMatchObject({ attempts: 0, error });
  expect(run.finish?.status).toBe("PARTIAL");
});

test("a refused tool fails no step whose condition is false", () => {
  const plan = planOf([{ id: "a", tool: "pay", when: { eq: [1, 2] } }]);
  expect(simulate(plan, TOOLS, { refusals }).statuses).toEqual({ a: "SKIPPED" });
});

test("no approval is requested for a call of a refused tool", () => {
  const plan = planOf([{ id: "a", tool: "pay", approval: true }]);
  expect(simulate(plan, TOOLS, { refusals }).records.get("a")).toMatchObject({ status: "FAILED", error });
});

test("a call that waits for a retry is not made when its tool is refused meanwhile", () => {
  const plan = planOf([{ id: "a", tool: "pay" }]);
  const record: StepRecord = { key: "a", stepId: "a", status: "RETRYING", attempts: 1, nextAttemptAt: 5 };
  const run = simulate(plan, TOOLS, { refusals, records: [record] });
  expect(run.calls).toEqual([]);
  expect(run.records.get("a")).toMatchObject({ status: "FAILED", attempts: 1, error });
});

test("a call that was running when its executor died is in doubt when its tool is refused meanwhile", () => {
  const plan = planOf([{ id: "a", tool: "pay" }]);
  const record: StepRecord = { key: "a", stepId: "a", status: "RUNNING", attempts: 1 };
  const run = simulate(plan, TOOLS, { refusals, records: [record] });
  expect(run.calls).toEqual([]);
  expect(run.records.get("a")).toMatchObject({ status: "IN_DOUBT" });
});

test("items that were not called yet fail when their tool is refused meanwhile, and results stay", () => {
  const plan = planOf([{ id: "a", forEach: { items: [1, 2], errors: "collect", do: { tool: "pay" } } }]);
  const records: StepRecord[] = [
    { key: "a", stepId: "a", status: "RUNNING", attempts: 0 },
    { key: "a[0]", stepId: "a", item: 0, status: "COMPLETED", attempts: 1, output: { ok: true } },
    { key: "a[1]", stepId: "a", item: 1, status: "PENDING", attempts: 0 },
  ];
  const run = simulate(plan, TOOLS, { refusals, records });
  expect(run.calls).toEqual([]);
  expect(run.records.get("a[1]")).toMatchObject({ status: "FAILED", error });
  expect(run.finish?.outputs?.["a"]).toMatchObject({ summary: { ok: 1, error: 1 } });
});

test("a contract's dependency on a tool means the tool of the same server", () => {
  const plan = planOf([
    { id: "in", tool: "enter" },
    { id: "mine", tool: "x/login" },
    { id: "other", tool: "login" },
  ]);
  const run = simulate(plan, TOOLS);
  const startOf = (id: string) => run.calls.find(({ call }) => call.key === id)?.from;
  expect([startOf("mine"), startOf("other")]).toEqual([0, 0]);
  expect(startOf("in")).toBeGreaterThan(0);
});
