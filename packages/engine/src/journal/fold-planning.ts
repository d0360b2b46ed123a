import { isTerminalPlanStatus } from "@planwright/plan";
import type { EventOf, JournalEvent } from "./events.ts";
import type { FoldContext } from "./fold-context.ts";
import type { FoldedPlanning, FoldedSpending } from "./folded.ts";
import { PLANNING_EVENT_SCHEMAS } from "./planning-events.ts";

/** An event of planning: it is about the request, not about a version of its plan. */
export type PlanningEvent = Extract<JournalEvent, { type: (typeof PLANNING_TYPES)[number] }>;

const PLANNING_TYPES = PLANNING_EVENT_SCHEMAS.map(({ shape }) => shape.type.value);
const IS_PLANNING: ReadonlySet<string> = new Set(PLANNING_TYPES);

/** True for an event about planning. */
export function isPlanningEvent(event: JournalEvent): event is PlanningEvent {
  return IS_PLANNING.has(event.type);
}

const NO_SPENDING: FoldedSpending = { modelCalls: 0, tokens: 0, costUsd: 0 };

/** State before planning began. */
export const NO_PLANNING: FoldedPlanning = {
  planner: null,
  epoch: 0,
  replanAsked: null,
  isCancelled: false,
  isExecutionPlanned: false,
  away: null,
  questions: [],
  spent: NO_SPENDING,
  calls: new Map(),
};

/** Applies an event of planning. @throws {JournalInvalidError} */
export function foldPlanning(context: FoldContext, event: PlanningEvent): void {
  context.request.planning = { ...context.request.planning, ...changeBy(context, event) };
}

/**
 * Applies `plan.stored` to planning: it ends planning, whichever writer appended it. A version that cannot
 * run does not end it; `planning.failed` follows in the same entry.
 * @throws {JournalInvalidError} when the writer is a planner that does not own planning
 */
export function endPlanning(context: FoldContext, { isValid }: EventOf<"plan.stored">): void {
  if (context.entry.by.kind === "planner") requirePlanner(context);
  if (!isValid) return;
  context.request.planning = {
    ...context.request.planning,
    planner: null,
    replanAsked: null,
    isCancelled: false,
    isExecutionPlanned: false,
    away: null,
  };
}

function changeBy(context: FoldContext, event: PlanningEvent): Partial<FoldedPlanning> {
  const { request, invalid } = context;
  const { planning } = request;
  switch (event.type) {
    case "planning.began":
      return beginPlanning(context, event);
    case "model.called": {
      requirePlanner(context);
      if (planning.calls.has(event.callId)) throw invalid(`call ${event.callId} was recorded before`);
      return { calls: new Map([...planning.calls, [event.callId, event.reserved]]) };
    }
    case "model.answered": {
      const calls = new Map(planning.calls);
      if (!calls.delete(event.callId)) throw invalid(`call ${event.callId} is not running`);
      const spent = sumOf([planning.spent, event.spent]);
      return { calls, spent, away: event.error === null ? null : planning.away };
    }
    case "question.asked":
      requirePlanner(context);
      return { planner: null, away: null, questions: event.questions.map(({ id }) => id) };
    case "answer.given":
      return applyAnswers(context, event);
    case "replan.asked": {
      const current = [...request.plans.values()].at(-1);
      const hasFailed = !current && planning.epoch > 0 && planning.planner === null;
      if (current ? !isTerminalPlanStatus(current.status) : !hasFailed) throw invalid("no plan has ended");
      if (planning.planner?.work === "replan" || planning.replanAsked)
        throw invalid("another replan was requested before");
      const { note, execute } = event;
      return { planner: null, replanAsked: { note, execute }, isCancelled: false, away: null };
    }
    case "execution.planned":
      return { isExecutionPlanned: true };
    case "planning.postponed": {
      requirePlanner(context);
      const { since, tries } = event;
      return { planner: null, away: { since, tries } };
    }
    case "planning.failed":
    case "answer.written":
      requirePlanner(context);
      return { planner: null, replanAsked: null, away: null };
    case "planning.cancelled":
      return { planner: null, replanAsked: null, isCancelled: true, away: null, questions: [] };
  }
}

function beginPlanning(
  { request, invalid }: FoldContext,
  event: EventOf<"planning.began">,
): Partial<FoldedPlanning> {
  const { worker, epoch, work } = event;
  if (request.planning.isCancelled && work !== "answer") throw invalid("planning was cancelled");
  if (epoch <= request.planning.epoch)
    throw invalid(`planning epoch ${epoch} follows epoch ${request.planning.epoch}`);
  return { planner: { worker, epoch, work }, epoch, questions: [] };
}

function applyAnswers(
  { request, invalid }: FoldContext,
  event: EventOf<"answer.given">,
): Partial<FoldedPlanning> {
  const { questions } = request.planning;
  const answered = new Set(event.answers.map(({ questionId }) => questionId));
  for (const id of answered) if (!questions.includes(id)) throw invalid(`question ${id} is not open`);
  return { questions: event.discardsDraft ? [] : questions.filter((id) => !answered.has(id)) };
}

function requirePlanner({ request, entry, invalid }: FoldContext): void {
  const { planner } = request.planning;
  if (planner?.worker !== entry.by.id)
    throw invalid(`${entry.by.id} wrote it, and ${planner?.worker ?? "no planner"} plans`);
}

/**
 * The sum of what model calls used. Costs are rounded to a billionth, to remove errors of binary fractions.
 * Pure.
 */
export function sumOf(all: Iterable<FoldedSpending>): FoldedSpending {
  let { modelCalls, tokens, costUsd } = NO_SPENDING;
  for (const one of all) {
    modelCalls += one.modelCalls;
    tokens += one.tokens;
    costUsd += one.costUsd;
  }
  return { modelCalls, tokens, costUsd: Math.round(costUsd * 1e9) / 1e9 };
}
