import { PlanSchema } from "@planwright/plan";
import type { PlanDocument, StepDocument } from "@planwright/store";
import { expect, test } from "vitest";
import { executionResults } from "./execution-results.ts";

const EPOCH = new Date(0);

function planOf(tools: Record<string, string>, more: Partial<PlanDocument> = {}): PlanDocument {
  return {
    _id: "plan_1700000000_aaaaaaaaaaaaaaaaaaaa",
    requestId: "req_1700000000_aaaaaaaaaaaaaaaaaaaa",
    tenant: "default",
    version: 1,
    plan: PlanSchema.parse({ steps: Object.entries(tools).map(([id, tool]) => ({ id, tool })) }),
    raw: null,
    origin: { kind: "submitted", model: null },
    diagnostics: [],
    status: "COMPLETED",
    lease: null,
    epoch: 1,
    claimsWithoutProgress: 0,
    dueAt: null,
    progressSeen: 0,
    waitReason: null,
    cancelRequestedAt: null,
    deadlineAt: null,
    counts: null,
    outputs: null,
    error: null,
    createdAt: EPOCH,
    queuedAt: null,
    startedAt: null,
    finishedAt: null,
    updatedAt: EPOCH,
    ...more,
  };
}

function stepOf(stepId: string, tool: string, more: Partial<StepDocument> = {}): StepDocument {
  return {
    _id: `plan/${stepId}`,
    planId: "plan_1700000000_aaaaaaaaaaaaaaaaaaaa",
    requestId: "req_1700000000_aaaaaaaaaaaaaaaaaaaa",
    tenant: "default",
    key: stepId,
    stepId,
    item: null,
    position: 0,
    tool,
    status: "COMPLETED",
    epoch: 1,
    writeId: null,
    attempts: [],
    effectClass: null,
    arguments: null,
    argsHash: null,
    output: null,
    error: null,
    warnings: [],
    waitReason: null,
    approved: false,
    nextAttemptAt: null,
    startedAt: null,
    finishedAt: null,
    durationMs: null,
    updatedAt: EPOCH,
    ...more,
  };
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
  const steps = [stepOf("a", "t", { output: { results: [] } }), stepOf("a", "t", { key: "a[0]", item: 0 })];
  expect(JSON.parse(executionResults(planOf({ a: "t" }), steps).results)).toHaveLength(1);
});

test("errors name each failed step, otherwise the plan's own reason", () => {
  const error = { code: "TOOL_FAILED", message: "taken", retryable: false };
  const failed = [stepOf("a", "t", { status: "FAILED", error }), stepOf("b", "t", { status: "IN_DOUBT" })];
  expect(executionResults(planOf({ a: "t", b: "t" }), failed).errors).toEqual(["a: taken", "b: IN_DOUBT"]);
  expect(executionResults(planOf({ a: "t" }, { status: "EXPIRED", error }), []).errors).toEqual(["taken"]);
  expect(executionResults(planOf({ a: "t" }, { status: "CANCELLED" }), []).errors).toEqual([
    "The plan was cancelled",
  ]);
});
