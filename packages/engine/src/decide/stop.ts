import { isForEachStep, isSettledStepStatus, isTerminalStepStatus } from "@planwright/plan";
import { callAgain } from "../schedule/dispatch.ts";
import { askForTimer } from "../schedule/slots.ts";
import type { Caller, EngineState, StepNode, Stopping, Unit } from "../state/engine-state.ts";
import {
  answerLost,
  asksLookup,
  canAskAgain,
  executorLost,
  GRACE_MS,
  mayHaveActed,
} from "../state/may-have-acted.ts";
import type { StepError } from "../state/protocol.ts";
import { change, type Turn } from "../state/turn.ts";
import { isEnding } from "../state/units.ts";

/**
 * Lets nothing new start. A failure lets running calls finish; cancel and deadline stop them. Called with the
 * reason again it changes nothing; a cancel or deadline overrides a failure.
 */
export function stop(turn: Turn, stopping: Stopping): void {
  const { state } = turn;
  if (stopping.type === "failed") state.failedBy ??= stopping.stepId;
  if (state.stopping && (stopping.type === "failed" || isEnding(state))) return;
  state.stopping = stopping;
  if (isEnding(state)) state.graceEndsAt = turn.at + GRACE_MS;
  if (!state.started) return;
  if (isEnding(state)) {
    abortCalls(turn, (caller) => !asksLookup(caller));
    askAtOnce(state);
  }
  for (const node of state.steps) close(turn, node);
}

/**
 * Ends the grace of a plan that is being ended: calls that are still under way are stopped, and what is not
 * settled is in doubt.
 */
export function endGrace(turn: Turn): void {
  const { state, at } = turn;
  if (!isEnding(state) || state.graceEndsAt === undefined || state.isGraceOver) return;
  if (at < state.graceEndsAt) {
    const { timerAt, heldCalls, calls } = state;
    // Every other call ends by itself within the grace.
    const isOpenEnded = heldCalls.length > 0 || [...calls.values()].some(asksLookup);
    if (isOpenEnded && (timerAt === undefined || timerAt > state.graceEndsAt))
      askForTimer(turn, state.graceEndsAt);
    return;
  }
  state.isGraceOver = true;
  abortCalls(turn, () => true);
  for (const node of state.steps) close(turn, node);
}

function abortCalls({ state, commands }: Turn, isMeant: (caller: Caller) => boolean): void {
  const reason = stopReason(state).message;
  for (const [key, caller] of state.calls) if (isMeant(caller)) commands.push({ type: "abort", key, reason });
}

/** Calls that may have acted and wait for their time wait no longer: the grace is short. */
function askAtOnce({ steps }: EngineState): void {
  const callers = steps.flatMap(({ unit, forEach }) => forEach?.callers ?? unit.caller ?? []);
  for (const caller of callers) if (mayHaveActed(caller)) caller.waiting = undefined;
}

/** Why a unit that never ran, or was stopped, did not run. */
export function stopReason(state: EngineState): StepError {
  const { stopping } = state;
  switch (stopping?.type) {
    case "failed":
      return {
        code: "PLAN_FAILED",
        message: `Skipped because step '${stopping.stepId}' failed and the plan stops at the first failure`,
        retryable: false,
      };
    case "expired":
      return { code: "DEADLINE_EXCEEDED", message: "The plan's deadline has passed", retryable: false };
    case "cancelled":
      return { code: "CANCELLED", message: stopping.reason, retryable: false };
    case undefined:
      return { code: "CANCELLED", message: "The call was stopped", retryable: false };
  }
}

/** Gives a step of a stopped plan its last state, once nothing of it is under way. */
export function close(turn: Turn, node: StepNode): void {
  if (!turn.state.stopping || node.final || node.active > 0 || node.unit.unacknowledged) return;
  // After a failure elsewhere, calls that wait for a slot to continue count as under way.
  if (node.heldCalls > 0 && !turn.state.paused && !isEnding(turn.state)) return;
  if (isBeingTakenUp(turn.state, node)) return;
  if (!node.forEach) {
    closeUnit(turn, node.unit);
    return;
  }
  if (node.forEach.unacknowledged > 0) return;
  const open = node.forEach.units.filter(({ status }) => !isSettledStepStatus(status));
  if (open.length > 0) {
    for (const unit of open) closeUnit(turn, unit);
    return; // the step follows when its items are durable
  }
  change(turn, node.unit, { status: "CANCELLED", error: stopReason(turn.state) });
}

/** A list that had begun before a crash and waits for its items: they are closed with it. */
function isBeingTakenUp({ loading, itemRecords }: EngineState, { step, forEach }: StepNode): boolean {
  return isForEachStep(step) && !forEach && loading.has(step.id) && itemRecords.has(step.id);
}

function closeUnit(turn: Turn, unit: Unit): void {
  const { state } = turn;
  const error = stopReason(state);
  const { caller } = unit;
  if (caller && unit.mayHaveActed && isAskedAgain(turn, caller)) return;
  if (caller) caller.waiting = undefined;
  if (isTerminalStepStatus(unit.status)) return;
  switch (unit.status) {
    case "PENDING":
    case "WAITING_APPROVAL":
      if (unit.status === "WAITING_APPROVAL") state.awaitingApproval--;
      if (unit.mayHaveActed) change(turn, unit, { status: "IN_DOUBT", error: executorLost(unit) });
      else change(turn, unit, { status: isEnding(state) ? "CANCELLED" : "SKIPPED", error });
      return;
    case "RETRYING":
    case "RUNNING":
      if (unit.mayHaveActed) change(turn, unit, { status: "IN_DOUBT", error: doubtOf(unit) });
      // The attempt failed and there will be no other.
      else if (isEnding(state) || !unit.error) change(turn, unit, { status: "CANCELLED", error });
      else change(turn, unit, { status: "FAILED", error: unit.error });
      return;
    case "IN_DOUBT":
      return; // until an operator settles it
    default:
      unit.status satisfies never;
  }
}

function doubtOf(unit: Unit): StepError {
  const { status, caller, error } = unit;
  return status === "RETRYING" && caller && error ? answerLost(caller, error) : executorLost(unit);
}

/** True for a caller that continues in a stopped plan, since the effect of its calls is unknown. */
function isAskedAgain(turn: Turn, caller: Caller): boolean {
  if (!canAskAgain(turn, caller)) return false;
  if (!caller.calling && !caller.waiting && !caller.held) callAgain(turn, caller);
  return true;
}
