import {
  type EventOf,
  type FoldedPlan,
  hasFailedActing,
  isPlanningEvent,
  type JournalEvent,
  type PlanningEvent,
  type StepRun,
  timeUse,
} from "@planwright/engine";
import { beginningOfText, type JsonObject, type RequestId } from "@planwright/plan";
import {
  countSteps,
  type EventHead,
  eventCursor,
  type PlanGraph,
  type PlanHead,
  type RequestDocument,
} from "@planwright/store";
import { BadInputError, RequestNotFoundError } from "../errors/api-error.ts";
import { type Connection, type PageArguments, parsePage, toConnection } from "../operation/connection.ts";
import type { GraphqlContext } from "../operation/context.ts";
import { findRequest } from "../plans/find-request.ts";
import {
  type PlanThen,
  type PlanTimes,
  planWaitReason,
  type ShownStep,
  type StepCounts,
  stepViews,
  toStepCounts,
} from "../plans/step-views.ts";

/** One page of the events of a request. @throws {BadInputError | CursorInvalidError} */
export async function readEventPage(
  requestId: RequestId,
  page: PageArguments,
  { reads }: Pick<GraphqlContext, "reads">,
): Promise<Connection<EventView>> {
  const { items, cursor } = await reads.eventPage(requestId, parsePage(page, "events"));
  return toConnection({ items: items.map(toEventView), cursor }, eventCursor);
}

/** Longest question or note in an event, in UTF-16 units; the request has the complete text. */
const MAX_TEXT = 200;

/** The parts of an error in an event; its data is read with the step. */
type ErrorView = Pick<NonNullable<EventOf<"attempt.ended">["error"]>, "code" | "message" | "retryable"> & {
  /** Of an error of planning: its remedy is another one than that of a step. */
  place?: "event";
};

/**
 * The public content of an event. Only these fields are sent: an event may contain more than clients may see.
 */
interface EventContent {
  /** Steps and items. */
  units?: readonly string[];
  attempt?: number;
  status?: string;
  error?: ErrorView | null | undefined;
  reason?: string | null | undefined;
  /** Facts without their own field; undefined facts are left out. */
  facts?: { [name: string]: unknown };
}

/** An event in the form of the schema. */
interface EventView extends Pick<EventHead, "seq" | "position" | "at" | "by" | "planId"> {
  id: string;
  type: JournalEvent["type"];
  stepId: string | null;
  key: string | null;
  attempt: number | null;
  status: string | null;
  error: (ErrorView & { data: null }) | null;
  reason: string | null;
  facts: JsonObject;
}

/** An event for clients, without outputs, arguments and answers. Pure. */
export function toEventView(head: EventHead): EventView {
  const { requestId, seq, position, planId, event } = head;
  const { units = [], attempt, status, error, reason, facts = {} } = contentOf(head);
  const [only] = units;
  return {
    id: `${requestId}/${seq}/${position}`,
    seq,
    position,
    ...authorOf(head),
    planId,
    type: event.type,
    stepId: only?.replace(/\[\d+\]$/, "") ?? null,
    key: units.length === 1 && only !== undefined ? only : null,
    attempt: attempt ?? null,
    status: status ?? null,
    error: error ? errorView(error) : null,
    reason: reason ?? null,
    // Converts dates to text, and drops undefined fields.
    facts: JSON.parse(JSON.stringify(facts)),
  };
}

/** Who caused the event, and when: a control that the owner wrote is its client's. */
function authorOf({ at, by, event }: EventHead): Pick<EventView, "at" | "by"> {
  const asked = "asked" in event ? event.asked : undefined;
  return asked ? { at: asked.at, by: { kind: "api", id: asked.by } } : { at, by };
}

/** Covers every event type: a missing one does not compile. */
function contentOf({ event, lengths }: EventHead): EventContent {
  if (isPlanningEvent(event)) return contentOfPlanning(event);
  switch (event.type) {
    case "plan.stored": {
      const { version, isValid, carried, settled, unanswered, repeats } = event;
      const counts = {
        carriedCount: lengths.carried,
        settledCount: lengths.settled,
        unansweredCount: lengths.unanswered,
        repeatsCount: lengths.repeats,
      };
      const facts = { version, isValid, carried, settled, unanswered, repeats, ...counts };
      return { status: isValid ? "READY" : "INVALID", facts };
    }
    case "lease.taken": {
      const { worker, epoch, from } = event;
      return { facts: { worker, epoch, from } };
    }
    case "lease.released":
      return { status: event.status, reason: event.waitReason, facts: { dueAt: event.dueAt } };
    case "attempt.started": {
      const { attemptId, attempt, units, tool, effectClass, mayAct, isLookup, argsHash, at } = event;
      const { sizeBytes: argumentsBytes } = event.arguments;
      const call = { tool, effectClass, mayAct, isLookup, argsHash, argumentsBytes, startedAt: at };
      return { units, attempt, facts: { attemptId, units, unitsCount: lengths.units, ...call } };
    }
    case "attempt.ended": {
      const { attemptId, units, outcome, effect, error, at: endedAt, durationMs, isUnsent } = event;
      const end = { outcome, effect, endedAt, durationMs, isUnsent };
      return { units, error, facts: { attemptId, units, unitsCount: lengths.units, ...end } };
    }
    case "items.expanded":
      return { units: [event.stepId], facts: { count: event.count } };
    case "items.closed": {
      const { stepId, from, to, status, error } = event;
      return { units: [stepId], status, error, facts: { from, to } };
    }
    case "step.changed":
      return { units: [event.key], ...changeOf(event, lengths) };
    case "approval.given": {
      const { stepId, approved, approvalHash, reason } = event;
      return { units: [stepId], reason, facts: { approved, approvalHash } };
    }
    case "doubt.resolved": {
      const { key, attempt, resolution } = event;
      const error = resolution.type === "failed" ? resolution.error : null;
      return { units: [key], attempt, error, facts: { resolution: resolution.type } };
    }
    case "plan.ended":
      return { status: event.status, error: event.error };
    case "execution.asked":
    case "cancel.asked":
    case "pause.asked":
    case "resume.asked":
    case "removal.began":
      return {};
  }
}

/** Without the answers of users: these are read with the request. */
function contentOfPlanning(event: PlanningEvent): EventContent {
  switch (event.type) {
    case "planning.began": {
      const { worker, epoch, work, from } = event;
      return { facts: { worker, epoch, work, from } };
    }
    case "model.called": {
      const { callId, purpose, model, reserved } = event;
      return { facts: { callId, purpose, model, reserved } };
    }
    case "model.answered": {
      const { callId, spent, error } = event;
      return { error: error && planningError(error), facts: { callId, spent } };
    }
    case "question.asked": {
      // A planner asks at most MAX_QUESTIONS at once, so the list is not cut.
      const questions = event.questions.map(({ id, question }) => ({ id, question: cut(question) }));
      return { facts: { questions, questionsCount: event.questions.length } };
    }
    case "answer.given": {
      const { answers, discardsDraft } = event;
      const questionIds = answers.map(({ questionId }) => questionId);
      return { facts: { questionIds, questionIdsCount: answers.length, discardsDraft } };
    }
    case "replan.asked": {
      const { note, execute } = event;
      return { facts: { note: note && cut(note), execute } };
    }
    case "planning.postponed": {
      const { error, since, tries, dueAt, until } = event;
      return { error: { ...error, retryable: true, place: "event" }, facts: { since, tries, dueAt, until } };
    }
    case "planning.failed":
      return { error: planningError(event.error) };
    case "answer.written":
      return { error: event.error && planningError(event.error) };
    case "execution.planned":
    case "planning.cancelled":
      return {};
  }
}

/** Failed planning is not retried automatically. */
function planningError({ code, message }: EventOf<"planning.failed">["error"]): ErrorView {
  return { code, message, retryable: false, place: "event" };
}

const cut = (text: string): string => beginningOfText(text, MAX_TEXT);

function changeOf(event: EventOf<"step.changed">, lengths: EventHead["lengths"]): EventContent {
  const { status, error, waitReason: reason, outputRef, outputBytes, warnings, toApprove } = event;
  const { nextAttemptAt, mayHaveActed, approved, resolvedBy: settled } = event;
  const facts = {
    outputBytes: outputRef?.sizeBytes ?? outputBytes,
    isOutputStoredSeparately: outputRef && true,
    warnings,
    warningsCount: lengths.warnings,
    nextAttemptAt,
    mayHaveActed,
    approved,
    settled,
    approvalHash: toApprove?.approvalHash,
    argumentsBytes: toApprove?.arguments.sizeBytes,
  };
  return { status, error, reason, facts };
}

function errorView({ code, message, retryable, place }: ErrorView): NonNullable<EventView["error"]> {
  return { code, message, retryable, ...(place && { place }), data: null };
}

/* A request at one entry of its journal: its plan and steps follow from the journal alone. */

/** A request whose plan is that of an entry of its journal. */
export type PastRequest = RequestDocument & {
  past: { seq: number; at: Date | null; plan: (PlanHead & { past: PlanThen }) | null };
};

/** Estimated size of a step or item with its attempts, in bytes. */
const STEP_BYTES = 1_024;

/** @throws {BadInputError | RequestNotFoundError} */
export async function readRequestAt(
  requestId: string,
  at: number,
  context: GraphqlContext,
): Promise<PastRequest> {
  if (at < 0) {
    throw new BadInputError(
      "at",
      `at is ${at}; 0 or more is accepted`,
      "Give 0 for the state before the first entry, or more: request(requestId) { seq } is the last entry.",
    );
  }
  const { store, tenant, reads, bytes } = context;
  const request = await findRequest(context, requestId);
  const current = await reads.plan(request.planId);
  await bytes.reading(((current?.steps ?? 0) + (current?.items ?? 0)) * STEP_BYTES);
  const state = await store.readStateAt(tenant, request._id, at);
  if (!state) throw new RequestNotFoundError(requestId);
  const { seq, at: writtenAt, owner, plan, steps } = state;
  const head = steps[0] && (await reads.plan(steps[0].planId));
  if (!plan || !head || !writtenAt) return { ...request, past: { seq, at: writtenAt, plan: null } };
  const past = {
    ...head,
    status: plan.status,
    error: plan.error && { ...plan.error, data: undefined },
    waitReason: plan.waitReason,
    lease: owner && { owner: owner.worker, epoch: owner.epoch },
    epoch: state.epoch,
    approvals: plan.approvals,
    resolutions: plan.resolutions,
    cancelRequestedAt: plan.cancelAskedAt,
    pauseRequestedAt: plan.pauseAskedAt,
    queuedAt: plan.queuedAt,
    startedAt: plan.startedAt,
    finishedAt: plan.finishedAt,
    updatedAt: writtenAt,
    deadlineAt: null,
    past: pastPlan(plan, steps, writtenAt),
  };
  return { ...request, past: { seq, at: writtenAt, plan: past } };
}

function pastPlan(plan: FoldedPlan, steps: readonly StepRun[], at: Date): PlanThen {
  const shown = (graph: PlanGraph): ShownStep[] =>
    // "limit" would be a guess unless an entry records it.
    stepViews({ ...graph, ...asIfHeld(plan) }, steps, NOTHING_KNOWN).map((step) =>
      step.waitsFor === "limit" && step.waitReason !== "limit" ? { ...step, waitsFor: null } : step,
    );
  return {
    ...timesAt(plan, at),
    counts: countsOf(steps),
    mayHaveActed: steps.filter(hasFailedActing).length,
    waitReason: planWaitReason(asIfHeld(plan), NOTHING_KNOWN),
    steps: shown,
  };
}

function timesAt(plan: FoldedPlan, at: Date): PlanTimes {
  if (!plan.startedAt) return { durationMs: null, waitedForPeopleMs: null };
  const { totalMs, ownMs } = timeUse(plan, at);
  return { durationMs: ownMs, waitedForPeopleMs: totalMs - ownMs };
}

/** Live workers are not recorded in the journal: with these no wait is for a worker, and no attempt is lost. */
const NOTHING_KNOWN = { planner: 1, executor: 1, owners: { has: () => true } };

/**
 * The plan as if an executor held it, unless it waits or has ended, because the live workers at that time are
 * not known.
 */
function asIfHeld({ status, waitReason, resolutions }: FoldedPlan) {
  const shown = status === "READY" ? ("RUNNING" as const) : status;
  return { status: shown, waitReason, resolutions, lease: { owner: "", epoch: 1 } };
}

/** Items are counted with their step. */
function countsOf(steps: readonly StepRun[]): StepCounts {
  const own = new Map(steps.filter(({ item }) => item === null).map((step) => [step.key, step]));
  const counted = countSteps(
    [...own.keys()].map((id) => ({ id })),
    own,
  );
  return toStepCounts(own.size, counted);
}
