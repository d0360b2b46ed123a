import { isForEachStep, isTerminalStepStatus } from "@planwright/plan";
import type { StepError } from "../protocol.ts";
import type { EngineState, StepNode, Stopping, Unit } from "./engine-state.ts";
import { change, type Turn } from "./turn.ts";
import { isEnding } from "./units.ts";

/**
 * Lets nothing new start. A failure lets running calls finish; cancel and deadline stop them. Called with the reason again it
 * changes nothing; a cancel or deadline overrides a failure.
 */
export function stop(turn: Turn, stopping: Stopping): void {
  const { state } = turn;
  if (stopping.type === "failed") state.failedBy ??= stopping.stepId;
  if (state.stopping && (stopping.type === "failed" || isEnding(state))) return;
  state.stopping = stopping;
  if (!state.started) return;
  if (isEnding(state)) {
    const reason = stopReason(state).message;
    for (const key of state.calls.keys()) turn.commands.push({ type: "abort", key, reason });
  }
  for (const node of state.steps) close(turn, node);
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
  // Calls that wait for a place to go on are under way, as far as a failure elsewhere is concerned.
  if (node.heldCalls > 0 && !turn.state.paused && !isEnding(turn.state)) return;
  if (!node.forEach) {
    closeUnit(turn, node.unit);
    return;
  }
  if (node.forEach.unacknowledged > 0) return;
  const open = node.forEach.units.filter(
    ({ status }) => !isTerminalStepStatus(status) && status !== "IN_DOUBT",
  );
  if (open.length > 0) {
    for (const unit of open) closeUnit(turn, unit);
    return; // the step follows when its items are durable
  }
  change(turn, node.unit, { status: "CANCELLED", error: stopReason(turn.state) });
}

function closeUnit(turn: Turn, unit: Unit): void {
  const { state } = turn;
  const error = stopReason(state);
  if (unit.caller) unit.caller.waiting = undefined;
  switch (unit.status) {
    case "PENDING":
    case "WAITING_APPROVAL":
      if (unit.status === "WAITING_APPROVAL") state.awaitingApproval--;
      change(turn, unit, { status: isEnding(state) ? "CANCELLED" : "SKIPPED", error });
      return;
    case "RETRYING":
      // The attempt failed and there will be no other.
      if (isEnding(state) || !unit.error) change(turn, unit, { status: "CANCELLED", error });
      else change(turn, unit, { status: "FAILED", error: unit.error });
      return;
    case "RUNNING":
      if (unit.item === undefined && isForEachStep(unit.step.step)) {
        change(turn, unit, { status: "CANCELLED", error });
      } else closeLost(turn, unit);
      return;
    default:
  }
}

/** A unit that was under way when its executor died, in a plan that is ended now: nobody will ask again. */
function closeLost(turn: Turn, unit: Unit): void {
  if (unit.step.tool.contract.sideEffects)
    change(turn, unit, { status: "IN_DOUBT", error: executorLost(unit) });
  else change(turn, unit, { status: "CANCELLED", error: stopReason(turn.state) });
}

/** Error of a unit whose call was under way when the answer was lost, most often with its executor. */
export function executorLost(unit: Unit): StepError {
  return {
    code: "EXECUTOR_LOST",
    message: `The answer to a call of ${unit.key} was lost, most likely with its executor; it is not known whether ${unit.step.tool.name} acted`,
    retryable: false,
  };
}
