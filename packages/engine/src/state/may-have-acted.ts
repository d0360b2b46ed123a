/**
 * Calls for which it is unknown whether they acted.
 *
 * 1. A unit "may have acted" from its first sent call of a tool with side effects until an answer settles
 *    that call.
 * 2. It then ends COMPLETED, FAILED by an answer to its key, or IN_DOUBT, never otherwise.
 * 3. A call whose result can be requested again (class K and idempotent tools by the same call, class V by
 *    its look-up) is requested again before it is in doubt. In a plan that is being ended this happens only
 *    within the grace period.
 */
import { isKeyed, isLookedUp, isRepeatable, isTerminalStepStatus, isUnrepeatable } from "@planwright/plan";
import type { Caller, EarlyDecision, ToolSlot, Unit } from "./engine-state.ts";
import type { StepError } from "./protocol.ts";
import { change, type Turn, type UnitChange } from "./turn.ts";
import { isEnding } from "./units.ts";

/**
 * Grace period of a plan that is being ended, in milliseconds: the time to ask for results of calls, and the
 * time that running calls have to end.
 */
export const GRACE_MS = 5_000;
/** Wait between two requests for the same result, in milliseconds. */
const ASK_EVERY_MS = 500;

/** True while one of the caller's units may have acted and is not waiting for an operator. */
export function mayHaveActed({ units }: Caller): boolean {
  return units.some((unit) => unit.mayHaveActed && unit.status !== "IN_DOUBT");
}

/** True for a caller whose next call is a look-up. */
export function asksLookup(caller: Caller): boolean {
  return isLookedUp(caller.step.tool) && mayHaveActed(caller);
}

/**
 * True for a tool whose calls may be repeated. A batch is then sent again with all items, and asks for the
 * result of each item that has not ended.
 */
export function resendsAllItems(tool: ToolSlot): boolean {
  return isKeyed(tool) || isRepeatable(tool);
}

/** Notes that the answer to a call of these units was lost. A tool without side effects cannot have acted. */
export function noteLostAnswer(units: readonly Unit[]): void {
  for (const unit of units) if (!unit.step.tool.onlyReads) unit.mayHaveActed = true;
}

/** True for a tool that can be asked for the result of an earlier call, by the same call or by its look-up. */
export function hasResults(tool: ToolSlot): boolean {
  return !isUnrepeatable(tool) && !tool.refusal;
}

/** True for a tool without side effects whose calls may be repeated. */
export function isRead(tool: ToolSlot): boolean {
  return isRepeatable(tool) && tool.onlyReads;
}

/** True while the result of a caller's calls may still be requested. */
export function canAskAgain({ state, at }: Turn, { step: { tool } }: Caller): boolean {
  if (!hasResults(tool)) return false;
  return !isEnding(state) || at < (state.graceEndsAt ?? at);
}

/**
 * The next state of a unit that may have acted, after a call in a plan that is being ended: the result is
 * requested again, or the unit is in doubt.
 */
export function askAgainOrDoubt(turn: Turn, caller: Caller, error: StepError): UnitChange {
  const nextAttemptAt = turn.at + ASK_EVERY_MS;
  const hasTime = nextAttemptAt < (turn.state.graceEndsAt ?? turn.at);
  return hasTime && canAskAgain(turn, caller)
    ? { status: "RETRYING", error, nextAttemptAt }
    : { status: "IN_DOUBT", error };
}

/** Error of a unit whose answer was lost while its call was running, most often because the executor died. */
export function executorLost(unit: Unit): StepError {
  return {
    code: "EXECUTOR_LOST",
    message: `The answer to a call of ${unit.key} was lost, most likely with its executor; it is not known whether ${unit.step.tool.name} acted`,
    retryable: false,
  };
}

/**
 * Error of a caller that may have acted in an earlier call, and did not act in the latest one.
 * @param latest - the error of the latest call
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

/** The state of a unit whose call was not made, or was refused before it could act. */
export function refusedChange(unit: Unit, caller: Caller, error: StepError): UnitChange {
  return unit.mayHaveActed && !isTerminalStepStatus(unit.status)
    ? { status: "IN_DOUBT", error: answerLost(caller, error) }
    : { status: "FAILED", error };
}

/**
 * Applies an operator's decision to a unit. A decision that does not fit the unit's status changes nothing.
 */
export function applyDecision(turn: Turn, unit: Unit, decision: EarlyDecision): void {
  if (unit.unacknowledged) {
    unit.early = decision;
    return;
  }
  if (decision.type === "approval") applyApproval(turn, unit, decision);
  else applyResolution(turn, unit, decision);
}

function applyApproval(turn: Turn, unit: Unit, decision: Extract<EarlyDecision, { type: "approval" }>): void {
  if (unit.status !== "WAITING_APPROVAL") return;
  turn.state.awaitingApproval--;
  if (decision.approved) {
    change(turn, unit, { status: "PENDING", approved: true });
    return;
  }
  const message = decision.reason ?? `Approval of step '${unit.step.step.id}' was refused`;
  change(turn, unit, { status: "FAILED", error: { code: "APPROVAL_REFUSED", message, retryable: false } });
}

function applyResolution(
  turn: Turn,
  unit: Unit,
  decision: Extract<EarlyDecision, { type: "resolve" }>,
): void {
  // An item cannot be resolved any more once the end of its list is being stored.
  if (unit.status !== "IN_DOUBT" || isTerminalStepStatus(unit.step.unit.status)) return;
  const { resolution } = decision;
  if (resolution.type === "completed")
    settleDoubt(turn, unit, { status: "COMPLETED", output: resolution.output });
  else if (resolution.type === "failed")
    settleDoubt(turn, unit, { status: "FAILED", error: resolution.error });
  else callOnceMore(turn, unit);
}

/** Makes a unit in doubt PENDING, so that it is called again. */
export function callOnceMore(turn: Turn, unit: Unit): void {
  // A repeatable call asks for the result of the earlier one, which may have acted. A call that must not be
  // repeated starts anew: the operator decided that it did not act.
  unit.mayHaveActed = resendsAllItems(unit.step.tool);
  // Its server is waited for anew, in a new attempt: a decision is about one attempt.
  unit.unreachable = undefined;
  if (unit.caller) unit.caller.unreachable = undefined;
  settleDoubt(turn, unit, { status: "PENDING" });
}

function settleDoubt(turn: Turn, unit: Unit, to: UnitChange): void {
  turn.state.inDoubt--;
  if (unit.item !== undefined && unit.step.forEach) unit.step.forEach.inDoubt--;
  change(turn, unit, to);
}
