/** New documents. Pure: ids and times are arguments. */
import {
  type Diagnostic,
  escapeHalves,
  type Plan,
  type PolicyInput,
  type Priority,
  type RequestId,
  type ToolPin,
} from "@planwright/plan";
import type { ModelLimits } from "./model-call-document.ts";
import type { PlanDocument } from "./plan-document.ts";
import type { GivenContext, PlanOrigin, RequestDocument, TraceOrigin } from "./request-document.ts";

/** Input of new work, a sentence or a plan. */
export interface NewWork {
  tenant: string;
  /** Tags to find the request by. Default: none. */
  tags?: readonly string[] | undefined;
  /** Its place among the waiting work of its tenant. Default: normal. */
  priority?: Priority | undefined;
  /** Start executing as soon as a valid plan is stored. */
  autoExecute: boolean;
  /** Maximum number of automatic replans after failures. Default 0. */
  maxReplans?: number | undefined;
  /** Write the results in words at the end. Default false. */
  wantsAnswer?: boolean | undefined;
  /** Limits of the model calls of the request. Default: no limits. */
  modelLimits?: ModelLimits | undefined;
  /** The trace in which the request was accepted. Default: not traced. */
  trace?: TraceOrigin | undefined;
}

/** Input that only sentences have. */
export interface PlanningOptions {
  /** Time, place and facts of the caller. Default: nothing. */
  context?: GivenContext | undefined;
  /** The caller's settings of the plan's policy. Default: none. */
  policy?: PolicyInput | undefined;
}

/** A request that waits for a planner. */
export function newRequest(
  input: NewWork &
    PlanningOptions &
    Pick<RequestDocument, "planId" | "source" | "query"> & { requestId: RequestId; now: Date },
): RequestDocument {
  const {
    maxReplans = 0,
    wantsAnswer = false,
    context,
    policy,
    modelLimits,
    trace,
    tags = [],
    priority,
  } = input;
  return {
    ...(tags.length > 0 ? { tags: [...tags] } : {}),
    ...(priority && priority !== "normal" ? { priority } : {}),
    ...(trace ? { trace } : {}),
    ...(context ? { context } : {}),
    ...(policy ? { policy } : {}),
    ...(modelLimits ? { modelLimits } : {}),
    ...(maxReplans > 0 ? { replans: { max: maxReplans, made: 0 } } : {}),
    ...(wantsAnswer ? { wantsAnswer } : {}),
    _id: input.requestId,
    tenant: input.tenant,
    source: input.source,
    query: input.query,
    status: "PLANNING",
    planId: input.planId,
    version: 1,
    autoExecute: input.autoExecute,
    lease: null,
    epoch: 0,
    dueAt: dueAtOnce(input.now),
    claims: 0,
    planning: { claimsOfWork: 0, startedAt: null, finishedAt: null },
    error: null,
    diagnostics: [],
    questions: [],
    answers: [],
    writeId: null,
    createdAt: input.now,
    updatedAt: input.now,
  };
}

/** A version of a plan, as a planner or a client made it. @typeParam Made - with null when it may be unreadable */
export interface NewVersion<Made extends Plan | null = Plan> {
  plan: Made;
  /** From the catalogue that the plan was checked against. Default: nothing is pinned. */
  toolPins?: ToolPin[] | undefined;
  /** Raw text of the answer or the submission. */
  raw: string | null;
  origin: PlanOrigin;
  diagnostics: Diagnostic[];
}

/** A new plan: READY, QUEUED (to run at once) or INVALID. */
export function newPlan(
  input: NewVersion<Plan | null> & {
    request: RequestDocument;
    status: "READY" | "QUEUED" | "INVALID";
    now: Date;
  },
): PlanDocument {
  const { request, now } = input;
  const isQueued = input.status === "QUEUED";
  return {
    _id: request.planId,
    requestId: request._id,
    tenant: request.tenant,
    version: request.version,
    plan: input.plan,
    ...(input.toolPins ? { toolPins: input.toolPins } : {}),
    raw: input.raw === null ? null : escapeHalves(input.raw),
    origin: input.origin,
    diagnostics: input.diagnostics,
    status: input.status,
    lease: null,
    epoch: 0,
    claims: 0,
    dueAt: isQueued ? dueAtOnce(now) : null,
    progressSeen: 0,
    waitReason: null,
    isFresh: true,
    controlSeq: 0,
    decisionSeq: 0,
    cancelRequestedAt: null,
    pauseRequestedAt: null,
    deadlineAt: null,
    counts: null,
    outputs: null,
    error: null,
    ...followUpOf(request),
    ...(request.priority ? { priority: request.priority } : {}),
    ...(request.trace ? { trace: request.trace } : {}),
    writeId: null,
    createdAt: now,
    queuedAt: isQueued ? now : null,
    startedAt: null,
    finishedAt: input.status === "INVALID" ? now : null,
    updatedAt: now,
  };
}

/** Stored with the plan, so that the end of the plan does not need to read the request. */
function followUpOf({ replans, wantsAnswer }: RequestDocument): Pick<PlanDocument, "followUp"> {
  const { max = 0, made = 0 } = replans ?? {};
  if (max === 0 && wantsAnswer !== true) return {};
  return { followUp: { maxReplans: max, replans: made, answer: wantsAnswer === true } };
}

/**
 * New documents get their times from an estimate of MongoDB's clock, which may be ahead of it by this much,
 * in milliseconds. Work that is to begin at once is due earlier by this time: otherwise its first claimer
 * could come too early, and the work would wait for a sweep.
 */
const CLOCK_SLACK_MS = 1_000;

/** The due time of work that begins now. */
export const dueAtOnce = (now: Date) => new Date(now.getTime() - CLOCK_SLACK_MS);

/** Epoch of the first claim of a first version: before it the journal has no events of its steps. */
export const FIRST_EPOCH = 1;
