import type { StepRun } from "@planwright/engine";
import type { ModelCallHead, PlanHead, RequestDocument } from "@planwright/store";

/** One event of a request. */
export interface TimelineEntry {
  at: Date;
  /** Noun and past verb, such as "attempt.ended". */
  event: string;
  [fact: string]: unknown;
}

/** Everything that is recorded of a request. */
export interface RecordedRequest {
  request: RequestDocument;
  plans: readonly PlanHead[];
  steps: readonly StepRun[];
  modelCalls: readonly ModelCallHead[];
}

type Moment = Omit<TimelineEntry, "at"> & { event: string; at: Date | null | undefined };

/**
 * The events of a request by their recorded times, oldest first. Pure. It uses documents instead of the
 * journal, so that planning and model calls, which the journal also records, have one row each.
 */
export function bundleTimeline({ request, plans, steps, modelCalls }: RecordedRequest): TimelineEntry[] {
  const moments: Moment[] = [
    ...ofRequest(request),
    ...modelCalls.flatMap(ofModelCall),
    ...plans.flatMap(ofPlan),
    ...steps.flatMap(ofStep),
  ];
  return moments
    .flatMap(({ at, ...facts }) => (at ? [{ ...facts, at, event: facts.event }] : []))
    .toSorted((a, b) => a.at.getTime() - b.at.getTime());
}

function ofRequest(request: RequestDocument): Moment[] {
  const isPlanned = request.source === "query";
  const { planning, error } = request;
  return [
    { at: request.createdAt, event: "request.accepted", source: request.source },
    { at: isPlanned ? planning.startedAt : null, event: "planning.started" },
    ...request.answers.map(({ at, question }) => ({ at, event: "question.answered", question })),
    { at: isPlanned ? planning.finishedAt : null, event: "planning.ended", ...(error ? { error } : {}) },
  ];
}

function ofModelCall(call: ModelCallHead): Moment[] {
  const { _id: callId, purpose, model, error, latencyMs } = call;
  return [
    { at: call.createdAt, event: "model.called", callId, purpose, model },
    { at: call.endedAt, event: "model.answered", callId, latencyMs, ...(error ? { error } : {}) },
  ];
}

function ofPlan(plan: PlanHead): Moment[] {
  const { _id: planId, version, status, error } = plan;
  return [
    { at: plan.createdAt, event: "plan.stored", planId, version },
    { at: plan.queuedAt, event: "plan.queued", planId },
    { at: plan.startedAt, event: "plan.started", planId },
    { at: plan.pauseRequestedAt, event: "pause.requested", planId },
    { at: plan.cancelRequestedAt, event: "cancel.requested", planId },
    ...plan.approvals.map(({ at, stepId, approved, by }) => ({
      at,
      event: approved ? "step.approved" : "step.refused",
      planId,
      stepId,
      by,
    })),
    ...plan.resolutions.map(({ at, key, attempt, resolution, by }) => ({
      at,
      event: "doubt.resolved",
      planId,
      key,
      attempt,
      resolution: resolution.type,
      by,
    })),
    { at: plan.finishedAt, event: "plan.ended", planId, status, ...(error ? { error } : {}) },
  ];
}

/** Steps that were carried over ran in an earlier plan, and have no events here. */
function ofStep({ planId, key, tool, carriedFrom, finishedAt, status, attempts }: StepRun): Moment[] {
  if (carriedFrom) return [];
  const step = { planId, key };
  if (attempts.length === 0) return [{ at: finishedAt, event: "step.ended", ...step, status }];
  return attempts.flatMap(({ attempt, executor, startedAt, endedAt, outcome, durationMs, error }) => [
    { at: startedAt, event: "attempt.started", ...step, tool, attempt, executor },
    {
      at: endedAt,
      event: "attempt.ended",
      ...step,
      attempt,
      outcome,
      durationMs,
      ...(error ? { error: { code: error.code, message: error.message } } : {}),
    },
  ]);
}
