import { toStepRun } from "@planwright/engine";
import { PlanSchema } from "@planwright/plan";
import { newPlan, newRequest, type PlanDocument } from "@planwright/store";
import { expect, test } from "vitest";
import { type ExecutedStep, executionResults } from "./older-api.ts";

const EPOCH = new Date(0);

const REQUEST = newRequest({
  requestId: "req_1700000000_aaaaaaaaaaaaaaaaaaaa",
  planId: "plan_1700000000_aaaaaaaaaaaaaaaaaaaa",
  tenant: "default",
  source: "plan",
  query: null,
  autoExecute: true,
  now: EPOCH,
});

function planOf(tools: Record<string, string>, more: Partial<PlanDocument> = {}): PlanDocument {
  const steps = Object.entries(tools).map(([id, tool]) => ({ id, tool }));
  const fresh = newPlan({
    request: REQUEST,
    plan: PlanSchema.parse({ steps }),
    raw: null,
    origin: { kind: "submitted", model: null },
    diagnostics: [],
    status: "READY",
    now: EPOCH,
  });
  return { ...fresh, status: "COMPLETED", ...more };
}

function stepOf(stepId: string, tool: string, more: Partial<ExecutedStep> = {}): ExecutedStep {
  const plan = planOf({ any: "any" });
  const step = { id: stepId, tool, hasCauses: false };
  const run = toStepRun(
    { ...plan, planId: plan._id },
    { step, position: 0, item: null, key: stepId, unit: undefined },
  );
  return { ...run, arguments: null, output: null, status: "COMPLETED", ...more };
}

test("outputs are keyed by tool while the plan uses it once, and by step id otherwise", () => {
  const plan = planOf({ a: "createAuthor", b: "createAuthor", c: "createBlog" });
  const steps = [
    stepOf("a", "createAuthor", { output: 1, position: 0 }),
    stepOf("b", "createAuthor", { output: 2, position: 1 }),
    stepOf("c", "createBlog", { output: false, position: 2 }),
  ];
  expect(JSON.parse(executionResults(plan, steps).outputs)).toEqual({ a: 1, b: 2, createBlog: false });
});

test("a tool named __proto__ is a key like any other", () => {
  const steps = [stepOf("a", "__proto__", { output: { polluted: true } })];
  expect(executionResults(planOf({ a: "__proto__" }), steps).outputs).toBe('{"__proto__":{"polluted":true}}');
});

test("items of a forEach are part of their step", () => {
  const steps = [stepOf("a", "t", { output: { results: [] } }), stepOf("a", "t", { item: 0 })];
  expect(JSON.parse(executionResults(planOf({ a: "t" }), steps).results)).toHaveLength(1);
});

test("errors name each failed step, otherwise the error of the plan", () => {
  const error = { code: "TOOL_FAILED", message: "taken", retryable: false };
  const failed = [stepOf("a", "t", { status: "FAILED", error }), stepOf("b", "t", { status: "IN_DOUBT" })];
  expect(executionResults(planOf({ a: "t", b: "t" }), failed).errors).toEqual(["a: taken", "b: IN_DOUBT"]);
  expect(executionResults(planOf({ a: "t" }, { status: "EXPIRED", error }), []).errors).toEqual(["taken"]);
  expect(executionResults(planOf({ a: "t" }, { status: "CANCELLED" }), []).errors).toEqual([
    "The plan was cancelled",
  ]);
});
