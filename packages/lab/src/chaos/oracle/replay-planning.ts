/**
 * Replays the planning events of a journal by the oracle's rules.
 *
 * 1. Epochs of planning only go up. A planner begins with its own id.
 * 2. Model calls, questions, failures, results in words and stored versions come from the planner that began
 *    last, before its planning ends: by a question, a failure, results in words, a valid version, a cancel,
 *    or a request for a replan; or is postponed, because the model is away.
 * 3. A model is called once per call id, and answers once, after the call.
 * 4. An answer belongs to an open question.
 * 5. Cancelled planning does not begin again, unless a client requests a replan.
 */
import type { EventOf, JournalEvent } from "@planwright/engine";
import type { JournalDocument } from "@planwright/store";

const OF_PLANNING = {
  "planning.began": true,
  "model.called": true,
  "model.answered": true,
  "question.asked": true,
  "answer.given": true,
  "execution.planned": true,
  "replan.asked": true,
  "planning.postponed": true,
  "planning.failed": true,
  "planning.cancelled": true,
  "answer.written": true,
} as const;

/** The events of planning. */
export type PlanningEvent = EventOf<keyof typeof OF_PLANNING>;

/** The state of planning during the replay. */
export interface ReplayedPlanning {
  epoch: number;
  /** The planner that began last; undefined after its planning has ended. */
  planner: string | undefined;
  /** Model calls by id, and whether they were answered. */
  calls: Map<string, { isAnswered: boolean }>;
  /** Ids of open questions. */
  questions: Set<string>;
  /**
   * How planning last ended without a plan. Null when it made a plan, or when a client requested a replan
   * later.
   */
  endedAs: "FAILED" | "CANCELLED" | null;
}

/** An event's entry and the state of planning. */
interface EventContext {
  planning: ReplayedPlanning;
  entry: Pick<JournalDocument, "by">;
  fault: (expected: string, found: string) => void;
}

/** Planning before its first event. */
export function newReplayedPlanning(): ReplayedPlanning {
  return { epoch: 0, planner: undefined, calls: new Map(), questions: new Set(), endedAs: null };
}

/** True for an event of planning. Pure. */
export function isOfPlanning(event: JournalEvent): event is PlanningEvent {
  return Object.hasOwn(OF_PLANNING, event.type);
}

/** Replays one event of planning. */
export function replayPlanning(context: EventContext, event: PlanningEvent): void {
  const { planning, fault } = context;
  switch (event.type) {
    case "planning.began":
      return begin(context, event);
    case "model.called":
      requirePlanner(context, event.type);
      if (planning.calls.has(event.callId)) fault("each model call once", `${event.callId} a second time`);
      planning.calls.set(event.callId, { isAnswered: false });
      return;
    case "model.answered": {
      const call = planning.calls.get(event.callId);
      if (call === undefined) return fault(`model call ${event.callId} before`, "its answer");
      if (call.isAnswered) fault(`one answer to ${event.callId}`, "another one");
      call.isAnswered = true;
      return;
    }
    case "question.asked":
      requirePlanner(context, event.type);
      planning.questions = new Set(event.questions.map(({ id }) => id));
      return end(planning, null);
    case "answer.given":
      return answer(context, event);
    case "execution.planned":
      return;
    case "replan.asked":
      return end(planning, null);
    case "planning.postponed":
      requirePlanner(context, event.type);
      return end(planning, null);
    case "planning.failed":
      requirePlanner(context, event.type);
      return end(planning, "FAILED");
    case "planning.cancelled":
      planning.questions.clear();
      return end(planning, "CANCELLED");
    case "answer.written":
      requirePlanner(context, event.type);
      return end(planning, null);
  }
}

/** Replays the storing of a version. */
export function replayStored(context: EventContext, { isValid }: EventOf<"plan.stored">): void {
  if (context.entry.by.kind === "planner") requirePlanner(context, "plan.stored");
  if (isValid) end(context.planning, null);
}

function begin(
  { planning, entry, fault }: EventContext,
  { worker, epoch, work }: EventOf<"planning.began">,
): void {
  if (planning.endedAs === "CANCELLED" && work !== "answer")
    fault("no planning after its cancel", `${worker} began to ${work}`);
  if (epoch <= planning.epoch)
    fault(`an epoch of planning above ${planning.epoch}`, `${worker} took epoch ${epoch}`);
  if (entry.by.kind !== "planner" || entry.by.id !== worker)
    fault(`planning of ${entry.by.kind} ${entry.by.id}`, `planning of ${worker}`);
  planning.epoch = epoch;
  planning.planner = worker;
  // A planner that begins again does not need the earlier questions.
  planning.questions.clear();
}

function answer(
  { planning, fault }: EventContext,
  { answers, discardsDraft }: EventOf<"answer.given">,
): void {
  const ids = new Set(answers.map(({ questionId }) => questionId));
  for (const id of ids)
    if (!planning.questions.delete(id)) fault(`${id} as an open question`, "an answer to it");
  if (discardsDraft) planning.questions.clear();
}

function end(planning: ReplayedPlanning, endedAs: ReplayedPlanning["endedAs"]): void {
  planning.planner = undefined;
  planning.endedAs = endedAs;
}

function requirePlanner({ planning, entry, fault }: EventContext, eventType: string): void {
  const { kind, id } = entry.by;
  if (kind !== "planner" || planning.planner !== id)
    fault(`${eventType} by ${planning.planner ?? "no planner"}`, `${eventType} by ${kind} ${id}`);
}
