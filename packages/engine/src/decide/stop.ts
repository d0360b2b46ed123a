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
 * Stops the plan: nothing new starts. A failure lets running calls finish; cancel and deadline abort them.
 * Calling it again with the same reason changes nothing. A cancel or deadline overrides a failure.
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
    endWaits(state);
  }
  for (const node of state.steps) close(turn, node);
}

/**
 * Ends the grace period of a plan that is being ended: running calls are aborted, and calls that are not
 * settled are in doubt.
 */
export function endGrace(turn: Turn): void {
  const { state, at } = turn;
  if (!isEnding(state) || state.graceEndsAt === undefined || state.isGraceOver) return;
  if (at < state.graceEndsAt) {
    const { timerAt, heldCalls, calls } = state;
    // Every other call ends by itself within the grace period.
    const isOpenEnded = heldCalls.length > 0 || [...calls.values()].some(asksLookup);
    if (isOpenEnded && (timerAt === undefined || timerAt > state.graceEndsAt))
      askForTimer(turn, state.graceEndsAt);
    return;
  }
  state.isGraceOver = true;
  abortCalls(turn, () => true);
  for (const node of state.steps) close(turn, node);
}

function abortCalls({ state, commands }: Turn, isSelected: (caller: Caller) => boolean): void {
  const reason = stopReason(state).message;
  for (const [key, caller] of state.calls)
    if (isSelected(caller)) commands.push({ type: "abort", key, reason });
}

/** Callers that may have acted stop waiting for their time, because the grace period is short. */
function endWaits({ steps }: EngineState): void {
  const callers = steps.flatMap(({ unit, forEach }) => forEach?.callers ?? unit.caller ?? []);
  for (const caller of callers) if (mayHaveActed(caller)) caller.waiting = undefined;
}

/** Why a unit was not run or was stopped. */
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
      return expiredError(stopping);
    case "cancelled":
      return { code: "CANCELLED", message: stopping.reason, retryable: false };
    case undefined:
      return { code: "CANCELLED", message: "The call was stopped", retryable: false };
  }
}

/** Why a plan whose deadline has passed was stopped. */
export function expiredError({ message }: Extract<Stopping, { type: "expired" }>): StepError {
  return {
    code: "DEADLINE_EXCEEDED",
    message: message ?? "The plan's deadline has passed",
    retryable: false,
  };
}

/** Gives a step of a stopped plan its last state, once none of its calls is running. */
export function close(turn: Turn, node: StepNode): void {
  if (!turn.state.stopping || node.final || node.active > 0 || node.unit.unacknowledged) return;
  // After a failure of another step, held calls that wait for a slot count as running.
  if (node.heldCalls > 0 && !turn.state.paused && !isEnding(turn.state)) return;
  if (isBeingRestored(turn.state, node)) return;
  if (!node.forEach) {
    closeUnit(turn, node.unit);
    return;
  }
  if (node.forEach.unacknowledged > 0) return;
  const open = node.forEach.units.filter(({ status }) => !isSettledStepStatus(status));
  if (open.length > 0) {
    for (const unit of open) closeUnit(turn, unit);
    return; // the step is closed when its items are durable
  }
  change(turn, node.unit, { status: "CANCELLED", error: stopReason(turn.state) });
}

/**
 * True for a list that had started before a crash and waits for outputs that it needs to restore its items.
 * It is closed together with them later.
 */
function isBeingRestored({ loading, itemRecords }: EngineState, { step, forEach }: StepNode): boolean {
  return isForEachStep(step) && !forEach && loading.has(step.id) && itemRecords.has(step.id);
}

function closeUnit(turn: Turn, unit: Unit): void {
  const { state } = turn;
  const error = stopReason(state);
  const { caller } = unit;
  if (caller && unit.mayHaveActed && askAgainIfPossible(turn, caller)) return;
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
      // The attempt failed and there is no further attempt.
      else if (isEnding(state) || !unit.error) change(turn, unit, { status: "CANCELLED", error });
      else change(turn, unit, { status: "FAILED", error: unit.error });
      return;
    case "IN_DOUBT":
      return; // it stays until an operator settles it
    default:
      unit.status satisfies never;
  }
}

function doubtOf(unit: Unit): StepError {
  const { status, caller, error } = unit;
  return status === "RETRYING" && caller && error ? answerLost(caller, error) : executorLost(unit);
}

/**
 * True for a caller that continues in a stopped plan, because the effect of its calls is unknown. Makes its
 * next call when nothing else will.
 */
function askAgainIfPossible(turn: Turn, caller: Caller): boolean {
  if (!canAskAgain(turn, caller)) return false;
  if (!caller.calling && !caller.waiting && !caller.held) callAgain(turn, caller);
  return true;
}
