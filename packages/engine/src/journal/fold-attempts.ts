import { isTerminalStepStatus } from "@planwright/plan";
import type { EventPlace } from "./event-place.ts";
import type { EventOf } from "./events.ts";
import { moveUnit, openUnit } from "./fold-units.ts";
import type { FoldedAttempt } from "./folded.ts";

/** Applies the intent of a call to each unit that it serves. */
export function startAttempt(place: EventPlace, event: EventOf<"attempt.started">): void {
  const { entry } = place;
  for (const key of unitsOf(place, event)) {
    const unit = openUnit(place, key);
    moveUnit(place, unit, "RUNNING");
    const { attempt, attemptId, at } = event;
    const open = { endedAt: null, durationMs: null, outcome: null, error: null, endSeq: null };
    const begun: FoldedAttempt = { attempt, attemptId, worker: entry.by.id, startedAt: at, ...open };
    unit.attempts = [...unit.attempts.map((earlier) => closeLost(earlier, at)), begun];
    unit.effectClass = event.effectClass;
    unit.mayHaveActed ||= event.mayAct;
    unit.arguments = event.arguments;
    unit.argumentsSeq = entry.seq;
    unit.argsHash = event.argsHash;
    unit.waitReason = null;
    unit.nextAttemptAt = null;
    unit.startedAt ??= at;
  }
}

/**
 * Applies the end of a call to each unit that it served. Tries in a row that found the server away become one
 * attempt.
 */
export function endAttempt(place: EventPlace, event: EventOf<"attempt.ended">): void {
  for (const key of unitsOf(place, event)) {
    const unit = openUnit(place, key);
    const ended = unit.attempts.at(-1);
    if (ended?.attemptId !== event.attemptId)
      throw place.invalid(`${key} has no attempt ${event.attemptId} under way`);
    if (ended.endedAt !== null) throw place.invalid(`attempt ${event.attemptId} of ${key} had ended before`);
    const { outcome, error, at: endedAt, durationMs } = event;
    const endSeq = place.entry.seq;
    const closed: FoldedAttempt = { ...ended, outcome, error, endedAt, durationMs, endSeq };
    if (event.isUnsent) closed.unsent = { tries: 1, since: endedAt };
    unit.attempts = [...unit.attempts.slice(0, -1), closed];
    joinUnsent(unit.attempts);
  }
}

/**
 * Units to which a call does something. A batch that may be repeated is sent again whole, also with items
 * that have ended: those stay as they are. A call of units that are all over cannot be.
 */
function unitsOf(place: EventPlace, { units }: { units: readonly string[] }): readonly string[] {
  const known = place.plan().units;
  const open = units.filter((key) => !isTerminalStepStatus(known.get(key)?.status ?? "PENDING"));
  return open.length > 0 ? open : units;
}

/** Another attempt follows one that was under way: its worker was lost, and with it the result. */
function closeLost(attempt: FoldedAttempt, at: Date): FoldedAttempt {
  if (attempt.endedAt !== null) return attempt;
  const message = `The executor ${attempt.worker} was lost before it had an answer`;
  const error = { code: "EXECUTOR_LOST", message, retryable: true };
  return { ...attempt, endedAt: at, outcome: "unknown", error };
}

function joinUnsent(attempts: FoldedAttempt[]): void {
  const [before, latest] = attempts.slice(-2);
  if (!latest?.unsent || !before?.unsent || !latest.endedAt) return;
  const { attempt, startedAt } = before;
  const durationMs = latest.endedAt.getTime() - startedAt.getTime();
  const unsent = { ...before.unsent, tries: before.unsent.tries + 1 };
  attempts.splice(-2, 2, { ...latest, attempt, startedAt, durationMs, unsent });
}
