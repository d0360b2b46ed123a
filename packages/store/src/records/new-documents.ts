/** Documents as they are first written. Pure: ids and times come in. */
import type { Diagnostic, Plan, PlanId, PolicyInput, RequestId, ToolPin } from "@planwright/plan";
import type { ModelLimits } from "./model-call-document.ts";
import type { PlanDocument } from "./plan-document.ts";
import type { PlanOrigin } from "./plan-origin.ts";
import type { GivenContext, RequestDocument, TraceOrigin } from "./request-document.ts";

/** What comes with new work, be it a sentence or a plan. */
export interface NewWork {
  tenant: string;
  /** Tags by which the request is found again. Default: none. */
  tags?: readonly string[] | undefined;
  /** Start executing as soon as a valid plan is stored. */
  autoExecute: boolean;
  /** Replans that may follow failures without being asked for. Default 0. */
  maxReplans?: number | undefined;
  /** Write the results in words at the end. Default false. */
  wantsAnswer?: boolean | undefined;
  /** Most that the model calls of the request may spend. Default: no limits. */
  modelLimits?: ModelLimits | undefined;
  /** The trace in which it was accepted, kept with the request. Default: not traced. */
  trace?: TraceOrigin | undefined;
}

/** What comes with a sentence alone. */
export interface PlanningOptions {
  /** Time, place and facts of the caller. Default: nothing. */
  context?: GivenContext | undefined;
  /** What the caller asks of the plan's policy. Default: nothing. */
  policy?: PolicyInput | undefined;
}

/** A request that waits for a planner. */
export function newRequest(
  input: NewWork &
    PlanningOptions &
    Pick<RequestDocument, "planId" | "source" | "query"> & { requestId: RequestId; now: Date },
): RequestDocument {
  const { maxReplans = 0, wantsAnswer = false, context, policy, modelLimits, trace, tags = [] } = input;
  return {
    ...(tags.length > 0 ? { tags: [...tags] } : {}),
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

/** A plan READY (QUEUED when it is to run at once), or INVALID. */
export function newPlan(input: {
  request: RequestDocument;
  plan: Plan | null;
  toolPins?: ToolPin[] | undefined;
  raw: string | null;
  origin: PlanOrigin;
  diagnostics: Diagnostic[];
  status: "READY" | "QUEUED" | "INVALID";
  now: Date;
}): PlanDocument {
  const { request, now } = input;
  const isQueued = input.status === "QUEUED";
  return {
    _id: request.planId,
    requestId: request._id,
    tenant: request.tenant,
    version: request.version,
    plan: input.plan,
    ...(input.toolPins ? { toolPins: input.toolPins } : {}),
    raw: input.raw,
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
    cancelRequestedAt: null,
    pauseRequestedAt: null,
    deadlineAt: null,
    counts: null,
    outputs: null,
    error: null,
    ...followUpOf(request),
    ...(request.trace ? { trace: request.trace } : {}),
    writeId: null,
    createdAt: now,
    queuedAt: isQueued ? now : null,
    startedAt: null,
    finishedAt: input.status === "INVALID" ? now : null,
    updatedAt: now,
  };
}

/** Kept with the plan, so that its end knows it without reading the request. */
function followUpOf({ replans, wantsAnswer }: RequestDocument): Pick<PlanDocument, "followUp"> {
  const { max = 0, made = 0 } = replans ?? {};
  if (max === 0 && wantsAnswer !== true) return {};
  return { followUp: { maxReplans: max, replans: made, answer: wantsAnswer === true } };
}

/**
 * How far the estimate of MongoDB's clock, which a new document is stamped by, may be ahead of it, in
 * milliseconds. What is to begin at once is due since before then, or its first claimer would come too early
 * and leave it to a sweep.
 */
const CLOCK_SLACK_MS = 1_000;

const dueAtOnce = (now: Date) => new Date(now.getTime() - CLOCK_SLACK_MS);

/** Epoch that the first claim of a first version gives: nothing can be told of its steps before. */
export const FIRST_EPOCH = 1;

/** `_id` of a unit's document. */
export function stepDocumentId(planId: PlanId, key: string): string {
  return `${planId}/${key}`;
}
