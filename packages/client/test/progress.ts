import { NEVER_RAN, type PlanRun, type RequestRun, type StepRun } from "../src/run.ts";

export const REQUEST_ID = "req_1795253322_b8dzgomm7f8z2yi7kyqz";
const PLAN_ID = "plan_1795253322_657fpktzrqn6kd5fqwdd";
/** 10 s after the request was accepted. */
export const NOW_MS = Date.parse("2026-11-21T09:28:52.000Z");

/** The instant this many seconds after the request was accepted. */
export const later = (seconds: number) => new Date(NOW_MS - 10_000 + seconds * 1_000).toISOString();

/** Times of a plan or a step, and the words for them everywhere: its own time, and beside it what it waited for people. */
export const TIMES: readonly [durationMs: number, waitedForPeopleMs: number | null, words: string][] = [
  [2_300, 0, "2.3 s"],
  [2_300, 50_400_000, "2.3 s, and 14 h 0 min waiting for people"],
  [12, 900_000, "12 ms, and 15 min 0 s waiting for people"],
  [2_300, null, "2.3 s"],
];

/** A step, PENDING by default. */
export function stepOf(id: string, more: Partial<StepRun> = {}): StepRun {
  return {
    id,
    key: id,
    tool: id,
    status: "PENDING",
    dependsOn: [],
    ...NEVER_RAN,
    ...more,
  };
}

/** A plan, RUNNING by default. */
export function planOf(steps: StepRun[], more: Partial<PlanRun> = {}): PlanRun {
  return {
    planId: PLAN_ID,
    version: 1,
    status: "RUNNING",
    waitReason: null,
    executor: null,
    epoch: 1,
    origin: { kind: "offline", model: null },
    error: null,
    createdAt: later(1),
    queuedAt: later(1),
    startedAt: later(2),
    finishedAt: null,
    durationMs: 8_000,
    waitedForPeopleMs: 0,
    cancelRequestedAt: null,
    pauseRequestedAt: null,
    deadlineAt: null,
    expiresAt: null,
    counts: {
      total: steps.length,
      completed: 0,
      failed: 0,
      skipped: 0,
      cancelled: 0,
      inDoubt: 0,
      running: 0,
      pending: 0,
    },
    diagnostics: [],
    approvals: [],
    resolutions: [],
    steps,
    ...more,
  };
}

/** A request, EXECUTING by default. */
export function requestOf(more: Partial<RequestRun> = {}): RequestRun {
  return {
    requestId: REQUEST_ID,
    planId: PLAN_ID,
    status: "EXECUTING",
    source: "query",
    query: "Create author Alice",
    title: "Create author Alice",
    tags: [],
    version: 1,
    autoExecute: true,
    maxReplans: 0,
    traceId: null,
    traceUrl: null,
    openQuestions: [],
    diagnostics: [],
    error: null,
    questions: [],
    answerRequested: false,
    answer: null,
    answerError: null,
    waitReason: null,
    createdAt: later(0),
    planningStartedAt: later(0.1),
    answers: [],
    modelWait: null,
    planningFinishedAt: later(1),
    plan: null,
    ...more,
  };
}
