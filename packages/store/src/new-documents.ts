/** Documents as they are first written. Pure: ids and times come in. */
import {
  type Diagnostic,
  isForEachStep,
  type Plan,
  type PlanId,
  type RequestId,
  toolOfStep,
} from "@planwright/plan";
import type { PlanDocument, PlanOrigin, RequestDocument, StepDocument } from "./documents.ts";

/** A request that waits for a planner. */
export function newRequest(input: {
  requestId: RequestId;
  planId: PlanId;
  tenant: string;
  source: RequestDocument["source"];
  query: string | null;
  autoExecute: boolean;
  now: Date;
}): RequestDocument {
  return {
    _id: input.requestId,
    tenant: input.tenant,
    source: input.source,
    query: input.query,
    status: "PLANNING",
    planId: input.planId,
    version: 1,
    autoExecute: input.autoExecute,
    planning: { lease: null, epoch: 0, dueAt: input.now, claims: 0, startedAt: null, finishedAt: null },
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
    raw: input.raw,
    origin: input.origin,
    diagnostics: input.diagnostics,
    status: input.status,
    lease: null,
    epoch: 0,
    claimsWithoutProgress: 0,
    dueAt: isQueued ? now : null,
    progressSeen: 0,
    waitReason: null,
    expansions: 0,
    isFresh: true,
    wishes: 0,
    cancelRequestedAt: null,
    pauseRequestedAt: null,
    approvals: [],
    resolutions: [],
    deadlineAt: null,
    counts: null,
    outputs: null,
    error: null,
    writeId: null,
    createdAt: now,
    queuedAt: isQueued ? now : null,
    startedAt: null,
    finishedAt: input.status === "INVALID" ? now : null,
    updatedAt: now,
  };
}

/** Epoch that the first claim of a plan gives, so that its steps need no stamping then. */
export const FIRST_EPOCH = 1;

/** The steps of a plan, PENDING, in plan order. */
export function newSteps(document: PlanDocument, plan: Plan): StepDocument[] {
  return plan.steps.map((step, position) =>
    newStep(document, {
      key: step.id,
      stepId: step.id,
      item: null,
      position,
      tool: toolOfStep(step),
      epoch: FIRST_EPOCH,
      waitReason: step.dependsOn.length > 0 || isForEachStep(step) ? "dependency" : null,
    }),
  );
}

/** One unit, PENDING. */
export function newStep(
  plan: Pick<PlanDocument, "_id" | "requestId" | "tenant" | "updatedAt">,
  unit: Pick<StepDocument, "key" | "stepId" | "item" | "position" | "tool" | "epoch" | "waitReason">,
): StepDocument {
  return {
    _id: stepDocumentId(plan._id, unit.key),
    planId: plan._id,
    requestId: plan.requestId,
    tenant: plan.tenant,
    ...unit,
    status: "PENDING",
    writeId: null,
    attempts: [],
    effectClass: null,
    arguments: null,
    argumentsPreview: null,
    argsHash: null,
    output: null,
    outputRef: null,
    error: null,
    warnings: [],
    approved: false,
    approvalHash: null,
    carriedFrom: null,
    nextAttemptAt: null,
    startedAt: null,
    finishedAt: null,
    durationMs: null,
    updatedAt: plan.updatedAt,
  };
}

/** `_id` of a unit's document. */
export function stepDocumentId(planId: PlanId, key: string): string {
  return `${planId}/${key}`;
}
