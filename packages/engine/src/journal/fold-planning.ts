import { isTerminalPlanStatus } from "@planwright/plan";
import type { EventPlace } from "./event-place.ts";
import type { EventOf, JournalEvent } from "./events.ts";
import type { FoldedPlanning, FoldedSpending } from "./folded.ts";
import { PLANNING_EVENT_SCHEMAS } from "./planning-events.ts";

/** An event of planning: it is about the request, and not about a version of its plan. */
export type PlanningEvent = Extract<JournalEvent, { type: (typeof PLANNING_TYPES)[number] }>;

const PLANNING_TYPES = PLANNING_EVENT_SCHEMAS.map(({ shape }) => shape.type.value);
const IS_PLANNING: ReadonlySet<string> = new Set(PLANNING_TYPES);

/** Whether an event is about planning. */
export function isPlanningEvent(event: JournalEvent): event is PlanningEvent {
  return IS_PLANNING.has(event.type);
}

const NOTHING: FoldedSpending = { modelCalls: 0, tokens: 0, costUsd: 0 };

/** Before anything was planned. */
export const NO_PLANNING: FoldedPlanning = {
  planner: null,
  epoch: 0,
  replanAsked: null,
  isCancelled: false,
  isExecutionPlanned: false,
  questions: [],
  spent: NOTHING,
  calls: new Map(),
};

/** Applies what is told of planning. @throws {JournalInvalidError} */
export function foldPlanning(place: EventPlace, event: PlanningEvent): void {
  place.request.planning = { ...place.request.planning, ...changeBy(place, event) };
}

/**
 * Applies that a version was stored: planning has ended by it, whichever writer stored it. A version that can
 * never run is told together with the failure.
 * @throws {JournalInvalidError} for a planner that does not own planning
 */
export function endPlanning(place: EventPlace, { isValid }: EventOf<"plan.stored">): void {
  if (place.entry.by.kind === "planner") requirePlanner(place);
  if (!isValid) return;
  place.request.planning = {
    ...place.request.planning,
    planner: null,
    replanAsked: null,
    isCancelled: false,
    isExecutionPlanned: false,
  };
}

function changeBy(place: EventPlace, event: PlanningEvent): Partial<FoldedPlanning> {
  const { request, invalid } = place;
  const { planning } = request;
  switch (event.type) {
    case "planning.began":
      return begin(place, event);
    case "model.called": {
      requirePlanner(place);
      if (planning.calls.has(event.callId)) throw invalid(`call ${event.callId} was told before`);
      return { calls: new Map([...planning.calls, [event.callId, event.reserved]]) };
    }
    case "model.answered": {
      const calls = new Map(planning.calls);
      if (!calls.delete(event.callId)) throw invalid(`call ${event.callId} is not under way`);
      return { calls, spent: sumOf([planning.spent, event.spent]) };
    }
    case "question.asked":
      requirePlanner(place);
      return { planner: null, questions: event.questions.map(({ id }) => id) };
    case "answer.given":
      return answer(place, event);
    case "replan.asked": {
      const current = [...request.plans.values()].at(-1);
      if (!current || !isTerminalPlanStatus(current.status)) throw invalid("no plan is over");
      if (planning.planner?.work === "replan" || planning.replanAsked)
        throw invalid("another replan was asked for before");
      const { note, execute } = event;
      return { planner: null, replanAsked: { note, execute }, isCancelled: false };
    }
    case "execution.planned":
      return { isExecutionPlanned: true };
    case "planning.failed":
    case "results.told":
      requirePlanner(place);
      return { planner: null, replanAsked: null };
    case "planning.cancelled":
      return { planner: null, replanAsked: null, isCancelled: true, questions: [] };
  }
}

function begin({ request, invalid }: EventPlace, event: EventOf<"planning.began">): Partial<FoldedPlanning> {
  const { worker, epoch, work } = event;
  if (request.planning.isCancelled && work !== "answer") throw invalid("planning was cancelled");
  if (epoch <= request.planning.epoch)
    throw invalid(`planning epoch ${epoch} follows epoch ${request.planning.epoch}`);
  return { planner: { worker, epoch, work }, epoch, questions: [] };
}

function answer({ request, invalid }: EventPlace, event: EventOf<"answer.given">): Partial<FoldedPlanning> {
  const { questions } = request.planning;
  const answered = new Set(event.answers.map(({ questionId }) => questionId));
  for (const id of answered) if (!questions.includes(id)) throw invalid(`question ${id} is not open`);
  return { questions: event.givesUpDraft ? [] : questions.filter((id) => !answered.has(id)) };
}

function requirePlanner({ request, entry, invalid }: EventPlace): void {
  const { planner } = request.planning;
  if (planner?.worker !== entry.by.id)
    throw invalid(`${entry.by.id} wrote it, and ${planner?.worker ?? "no planner"} plans`);
}

/** What model calls took together; money to a billionth: what binary fractions leave behind is none. Pure. */
export function sumOf(all: Iterable<FoldedSpending>): FoldedSpending {
  let { modelCalls, tokens, costUsd } = NOTHING;
  for (const one of all) {
    modelCalls += one.modelCalls;
    tokens += one.tokens;
    costUsd += one.costUsd;
  }
  return { modelCalls, tokens, costUsd: Math.round(costUsd * 1e9) / 1e9 };
}
