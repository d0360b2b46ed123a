import { isTerminalStepStatus } from "@planwright/plan";
import type { Effect } from "../state/effect.ts";
import type { EventOf } from "./events.ts";
import type { FoldContext } from "./fold-context.ts";
import { moveUnit, openUnit } from "./fold-units.ts";
import type { FoldedAttempt } from "./folded.ts";

/** Applies the start of a call to each unit that it serves. */
export function startAttempt(context: FoldContext, event: EventOf<"attempt.started">): void {
  const { entry } = context;
  const { attempt, attemptId, at } = event;
  const effect = event.mayAct ? ("possible" as const) : null;
  const open = { endedAt: null, durationMs: null, outcome: null, error: null, effect, endSeq: null };
  // All units share it: one event may start 10,000 items, and a change of an attempt replaces it.
  const started: FoldedAttempt = { attempt, attemptId, executor: entry.by.id, startedAt: at, ...open };
  if (event.errors) started.errors = event.errors;
  if (event.isLookup) started.isLookup = true;
  const { itemHashes } = event;
  const hashes = itemHashes && new Map(event.units.map((key, index) => [key, itemHashes[index]]));
  for (const key of unitsOf(context, event)) {
    const unit = openUnit(context, key);
    moveUnit(context, unit, "RUNNING");
    unit.attempts = [...unit.attempts.map((earlier) => closeLost(earlier, at)), started];
    unit.effectClass = event.effectClass;
    unit.mayHaveActed ||= event.mayAct;
    unit.arguments = event.arguments;
    unit.argumentsSeq = entry.seq;
    unit.argsHash = event.argsHash;
    unit.itemHash = hashes?.get(key);
    unit.tool = event.tool;
    unit.sentKey = event.sentKey;
    unit.waitReason = null;
    unit.nextAttemptAt = null;
    unit.startedAt ??= at;
  }
}

/**
 * Applies the end of a call to each unit that it served. Consecutive tries that could not reach the server
 * become one attempt.
 */
export function endAttempt(context: FoldContext, event: EventOf<"attempt.ended">): void {
  /** By the attempt before: the units of a call share it. */
  const closedOf = new Map<FoldedAttempt, FoldedAttempt>();
  for (const key of unitsOf(context, event)) {
    const unit = openUnit(context, key);
    const ended = unit.attempts.at(-1);
    if (ended?.attemptId !== event.attemptId)
      throw context.invalid(`${key} has no running attempt ${event.attemptId}`);
    if (ended.endedAt !== null)
      throw context.invalid(`attempt ${event.attemptId} of ${key} had ended before`);
    const closed = closedOf.get(ended) ?? closeBy(ended, event, context.entry.seq);
    closedOf.set(ended, closed);
    unit.attempts = [...unit.attempts.slice(0, -1), closed];
    joinUnsent(unit.attempts);
  }
}

function closeBy(ended: FoldedAttempt, event: EventOf<"attempt.ended">, endSeq: number): FoldedAttempt {
  const { outcome, error, at: endedAt, durationMs } = event;
  const effect = ended.effect && (event.effect ?? effectBefore(event));
  const closed: FoldedAttempt = { ...ended, outcome, error, effect, endedAt, durationMs, endSeq };
  return event.isUnsent ? { ...closed, unsent: { tries: 1, since: endedAt } } : closed;
}

/** The effect of a call that ended before ends of calls named it. */
function effectBefore({ outcome, isUnsent }: EventOf<"attempt.ended">): Effect {
  if (outcome === "completed") return "done";
  return isUnsent || outcome === "aborted" ? "none" : "possible";
}

/**
 * The units that a call changes. A batch that may be repeated is sent again with all items; items that have
 * ended do not change. When all units have ended, all are returned, so that applying the event fails.
 */
function unitsOf(context: FoldContext, { units }: { units: readonly string[] }): readonly string[] {
  const known = context.plan().units;
  const open = units.filter((key) => !isTerminalStepStatus(known.get(key)?.status ?? "PENDING"));
  return open.length > 0 ? open : units;
}

/**
 * Closes the attempts that were running when another worker took the plan: their worker was lost, and with it
 * their results. It can append nothing more.
 */
export function closeLostAttempts({ plan, entry }: Pick<FoldContext, "plan" | "entry">): void {
  const { units } = plan();
  for (const [key, unit] of units) {
    if (unit.attempts.at(-1)?.endedAt !== null) continue;
    const attempts = unit.attempts.map((attempt) => closeLost(attempt, entry.at));
    units.set(key, { ...unit, attempts, seq: entry.seq, updatedAt: entry.at });
  }
}

function closeLost(attempt: FoldedAttempt, at: Date): FoldedAttempt {
  if (attempt.endedAt !== null) return attempt;
  return { ...attempt, endedAt: at, outcome: "unknown", error: executorLost(attempt.executor) };
}

/** The error of an attempt whose executor was lost. */
export function executorLost(executor: string): { code: "EXECUTOR_LOST"; message: string; retryable: true } {
  const message = `The executor ${executor} was lost before it had an answer`;
  return { code: "EXECUTOR_LOST", message, retryable: true };
}

function joinUnsent(attempts: FoldedAttempt[]): void {
  const [previous, latest] = attempts.slice(-2);
  if (!latest?.unsent || !previous?.unsent || previous.unsent.isOver || !latest.endedAt) return;
  const { attempt, startedAt } = previous;
  const durationMs = latest.endedAt.getTime() - startedAt.getTime();
  const unsent = { ...previous.unsent, tries: previous.unsent.tries + 1 };
  attempts.splice(-2, 2, { ...latest, attempt, startedAt, durationMs, unsent });
}
