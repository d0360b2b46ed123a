import { expect, test } from "vitest";
import { isSettled, type Reading, regressionsBetween } from "./evidence.ts";

const PLAN: NonNullable<Reading["plan"]> = {
  status: "RUNNING",
  waitReason: null,
  error: null,
  steps: [
    { key: "a", status: "COMPLETED", output: { n: 1 } },
    { key: "b", status: "RUNNING", output: null },
  ],
};
const READING: Reading = { status: "EXECUTING", planId: "plan_1", error: null, plan: PLAN };
const withSteps = (...steps: NonNullable<Reading["plan"]>["steps"]): Reading => ({
  ...READING,
  plan: { ...PLAN, steps },
});
const [A, B] = PLAN.steps as [(typeof PLAN.steps)[number], (typeof PLAN.steps)[number]];

test("a later status is no regression", () => {
  const planning: Reading = { ...READING, status: "PLANNING", plan: null };
  const ended: Reading = {
    ...READING,
    status: "COMPLETED",
    plan: { ...PLAN, status: "COMPLETED", steps: [A, { ...B, status: "COMPLETED", output: 2 }] },
  };
  expect(regressionsBetween(planning, READING)).toEqual([]);
  expect(regressionsBetween(READING, ended)).toEqual([]);
  expect(regressionsBetween(ended, ended)).toEqual([]);
});

test.each<[title: string, before: Reading, after: Reading, found: RegExp]>([
  ["a request that had ended", { ...READING, status: "FAILED" }, READING, /request went from FAILED/],
  [
    "a request that is planned again",
    READING,
    { ...READING, status: "PLANNING" },
    /request went from EXECUTING to PLANNING/,
  ],
  ["another plan", READING, { ...READING, planId: "plan_2" }, /plan id changed/],
  ["a plan that disappears", READING, { ...READING, plan: null }, /the plan was there/],
  [
    "a plan that had ended",
    { ...READING, plan: { ...PLAN, status: "COMPLETED" } },
    READING,
    /plan went from COMPLETED/,
  ],
  [
    "a step that was COMPLETED",
    READING,
    withSteps({ ...A, status: "RUNNING" }, B),
    /step a went from COMPLETED/,
  ],
  ["an output that changes", READING, withSteps({ ...A, output: { n: 2 } }, B), /step a has another output/],
  ["a step that disappears", READING, withSteps(A), /step b was there/],
  [
    "a step that returns from RUNNING to PENDING",
    READING,
    withSteps(A, { ...B, status: "PENDING" }),
    /step b went from RUNNING/,
  ],
])("%s is found", (_title, before, after, found) => {
  expect(regressionsBetween(before, after)).toEqual([expect.stringMatching(found)]);
});

test("a request is settled when it has ended or waits for an operator", () => {
  expect(isSettled(READING)).toBe(false);
  expect(isSettled({ ...READING, status: "PARTIAL" })).toBe(true);
  expect(isSettled({ ...READING, plan: { ...PLAN, status: "WAITING", waitReason: "backoff" } })).toBe(false);
  expect(isSettled({ ...READING, plan: { ...PLAN, status: "WAITING", waitReason: "in doubt" } })).toBe(true);
});
