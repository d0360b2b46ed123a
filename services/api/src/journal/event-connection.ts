import { type EventOf, isPlanningEvent, type JournalEvent, type PlanningEvent } from "@planwright/engine";
import type { JsonObject, RequestId } from "@planwright/plan";
import { type EventHead, eventCursor } from "@planwright/store";
import { type Connection, type PageArguments, parsePage, toConnection } from "../operation/connection.ts";
import type { GraphqlContext } from "../operation/context.ts";

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
type ErrorView = Pick<NonNullable<EventOf<"attempt.ended">["error"]>, "code" | "message" | "retryable">;

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
      return { error: { ...error, retryable: true }, facts: { since, tries, dueAt, until } };
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
  return { code, message, retryable: false };
}

/** Truncates a text without splitting a surrogate pair. */
function cut(text: string): string {
  return text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}

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

function errorView({ code, message, retryable }: ErrorView): NonNullable<EventView["error"]> {
  return { code, message, retryable, data: null };
}
