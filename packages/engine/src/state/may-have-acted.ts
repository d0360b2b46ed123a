/**
 * Calls of which it is not known whether they acted.
 *
 * 1. A unit may have acted from the first call of a tool with side effects that was sent for it, until an
 *    answer settles it.
 * 2. It then ends COMPLETED, FAILED by an answer to its key, or IN_DOUBT, and nothing else.
 * 3. What can be asked again (class K and idempotent tools by the same call, class V by its look-up) is asked
 *    again before it is in doubt, in a plan that is being ended as long as the grace lasts.
 */
import { isTerminalStepStatus } from "@planwright/plan";
import type { Caller, ToolSlot, Unit } from "./engine-state.ts";
import type { StepError } from "./protocol.ts";
import type { Change, Turn } from "./turn.ts";
import { isEnding } from "./units.ts";

/**
 * How long a plan that is being ended asks for the results of its calls, and how long running calls have to
 * end, in milliseconds.
 */
export const GRACE_MS = 5_000;
/** The wait between two such questions, in milliseconds. */
const ASK_EVERY_MS = 500;

/** True while one of a caller's units may have acted, and no operator is to decide about it. */
export function mayHaveActed({ units }: Caller): boolean {
  return units.some((unit) => unit.mayHaveActed && unit.status !== "IN_DOUBT");
}

/** True for a caller whose next call asks the lookup tool. */
export function asksLookup(caller: Caller): boolean {
  return caller.step.tool.effectClass === "V" && mayHaveActed(caller);
}

/**
 * True for a tool whose calls may be repeated: a batch of it goes out again whole, and asks about each of its
 * items that is not over.
 */
export function isSentWhole({ effectClass }: ToolSlot): boolean {
  return effectClass === "K" || effectClass === "R";
}

/** The answer to a call of these units was lost. What only reads cannot have acted. */
export function noteLostAnswer(units: readonly Unit[]): void {
  for (const unit of units) if (unit.step.tool.contract.sideEffects) unit.mayHaveActed = true;
}

/** True while what a caller's calls came to may still be asked. */
export function canAskAgain({ state, at }: Turn, { step: { tool } }: Caller): boolean {
  if (tool.effectClass === "U" || tool.refusal) return false;
  return !isEnding(state) || at < (state.graceEndsAt ?? at);
}

/**
 * The next state of a unit that may have acted, after a call in a plan that is being ended: it is asked
 * again, or in doubt.
 */
export function askedOrDoubted(turn: Turn, caller: Caller, error: StepError): Change {
  const nextAttemptAt = turn.at + ASK_EVERY_MS;
  const hasTime = nextAttemptAt < (turn.state.graceEndsAt ?? turn.at);
  return hasTime && canAskAgain(turn, caller)
    ? { status: "RETRYING", error, nextAttemptAt }
    : { status: "IN_DOUBT", error };
}

/** Error of a unit whose call was under way when the answer was lost, most often with its executor. */
export function executorLost(unit: Unit): StepError {
  return {
    code: "EXECUTOR_LOST",
    message: `The answer to a call of ${unit.key} was lost, most likely with its executor; it is not known whether ${unit.step.tool.name} acted`,
    retryable: false,
  };
}

/**
 * Error of a caller that may have acted, and whose last call did not.
 * @param latest - what that call came to
 */
export function answerLost({ key, step }: Caller, latest: StepError): StepError {
  if (latest.code === "ANSWER_LOST") return latest;
  return {
    code: "ANSWER_LOST",
    message: `The answer to an earlier call of ${key} was lost, and it is not known whether ${step.tool.name} acted; the latest call: ${latest.message}`,
    retryable: false,
    data: { latest: { code: latest.code, message: latest.message } },
  };
}

/** What a unit comes to whose call was not made, or was refused before it could act. */
export function refusedAs(unit: Unit, caller: Caller, error: StepError): Change {
  return unit.mayHaveActed && !isTerminalStepStatus(unit.status)
    ? { status: "IN_DOUBT", error: answerLost(caller, error) }
    : { status: "FAILED", error };
}
