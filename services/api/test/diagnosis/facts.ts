import { diagnosedUnits } from "@planwright/store";
import type {
  AttemptFact,
  DiagnosisFacts,
  PlanFact,
  RequestFact,
  StepFact,
} from "../../src/diagnosis/facts.ts";

export const REQUEST_ID = "req_1795253322_b8dzgomm7f8z2yi7kyqz";
/** 10 s after the request was accepted. */
export const NOW_MS = Date.parse("2026-11-21T09:28:52.000Z");
/** This number of seconds after the request was accepted. */
export const later = (seconds: number) => new Date(NOW_MS - 10_000 + seconds * 1_000);

/** A step; PENDING by default. */
export function stepOf(id: string, more: Partial<StepFact> = {}): StepFact {
  const attempts = more.attempts ?? [];
  return {
    id,
    key: id,
    item: null,
    tool: id,
    status: "PENDING",
    waitReason: null,
    error: null,
    warnings: [],
    approvalHash: null,
    effectClass: null,
    effect: null,
    nextAttemptAt: null,
    expiresAt: null,
    startedAt: null,
    finishedAt: null,
    attempts,
    arguments: null,
    ...more,
  };
}

/** An attempt that has ended. */
export function attemptOf(attempt: number, more: Partial<AttemptFact> = {}): AttemptFact {
  return { startedAt: later(2 + attempt), endedAt: later(3 + attempt), error: null, ...more };
}

/** A plan; RUNNING by default. */
export function planOf(steps: StepFact[], more: Partial<PlanFact> = {}): PlanFact {
  return {
    planId: "plan_1795253322_657fpktzrqn6kd5fqwdd",
    status: "RUNNING",
    waitReason: null,
    origin: { kind: "offline", model: null },
    error: null,
    createdAt: later(1),
    queuedAt: later(1),
    startedAt: later(2),
    finishedAt: null,
    deadlineAt: null,
    cancelRequestedAt: null,
    pauseRequestedAt: null,
    approvals: [],
    resolutions: [],
    lostExecutors: 0,
    document: null,
    steps,
    itemCounts: diagnosedUnits(steps.map((step) => ({ ...step, stepId: step.id }))).itemCounts,
    ...more,
  };
}

/** A request; EXECUTING by default. */
export function requestOf(more: Partial<RequestFact> = {}): RequestFact {
  return {
    requestId: REQUEST_ID,
    version: 1,
    status: "EXECUTING",
    source: "query",
    query: "Create author Alice",
    error: null,
    diagnostics: [],
    questions: [],
    waitReason: null,
    createdAt: later(0),
    updatedAt: later(9),
    modelPause: null,
    planningStartedAt: later(0.1),
    modelWait: null,
    planningFinishedAt: later(1),
    plan: null,
    better: null,
    ...more,
  };
}

/** The facts of a diagnosis, without tools. */
export function factsOf(request: RequestFact): DiagnosisFacts {
  return { request, tools: [], leftOut: [], nowMs: NOW_MS };
}

/** An error of a step. */
export const errorOf = (code: string, message = "the tool's message") => ({ code, message });
