import type { PlanProgress, RequestProgress, StepProgress } from "../src/request/request-progress.ts";

export const REQUEST_ID = "req_1795253322_b8dzgomm7f8z2yi7kyqz";
const PLAN_ID = "plan_1795253322_657fpktzrqn6kd5fqwdd";
const AT = "2026-11-21T09:28:42.000Z";

/** A step, PENDING unless said otherwise. */
export function stepOf(id: string, more: Partial<StepProgress> = {}): StepProgress {
  return {
    id,
    key: id,
    item: null,
    tool: id,
    status: "PENDING",
    dependsOn: [],
    waitReason: null,
    error: null,
    approvalHash: null,
    settled: null,
    carriedFrom: null,
    effectClass: null,
    attempts: [],
    nextAttemptAt: null,
    startedAt: null,
    finishedAt: null,
    durationMs: null,
    ...more,
  };
}

/** A plan, RUNNING unless said otherwise. */
export function planOf(steps: StepProgress[], more: Partial<PlanProgress> = {}): PlanProgress {
  return {
    planId: PLAN_ID,
    version: 1,
    status: "RUNNING",
    waitReason: null,
    executor: null,
    epoch: 1,
    origin: { kind: "offline", model: null },
    error: null,
    createdAt: AT,
    queuedAt: AT,
    startedAt: AT,
    finishedAt: null,
    durationMs: 8_000,
    cancelRequestedAt: null,
    pauseRequestedAt: null,
    deadlineAt: null,
    approvals: [],
    resolutions: [],
    steps,
    ...more,
  };
}

/** A request, EXECUTING unless said otherwise. */
export function requestOf(more: Partial<RequestProgress> = {}): RequestProgress {
  return {
    requestId: REQUEST_ID,
    planId: PLAN_ID,
    status: "EXECUTING",
    source: "query",
    query: "Create author Alice",
    version: 1,
    autoExecute: true,
    error: null,
    questions: [],
    answerRequested: false,
    answer: null,
    answerError: null,
    waitReason: null,
    createdAt: AT,
    planningStartedAt: AT,
    planningFinishedAt: AT,
    plan: null,
    ...more,
  };
}
