import { type OutputLeftOut, resolveOutputs, type WaitReason } from "@planwright/plan";
import type { Command, FinalPlanStatus, StepError } from "../protocol.ts";
import type { EngineState } from "./engine-state.ts";
import type { Turn } from "./turn.ts";
import { isEnding } from "./units.ts";

/** Ends the plan, or lets it wait, when nothing is under way (invariant 5 of the protocol). */
export function concludePlan(turn: Turn): void {
  const { state } = turn;
  if (!state.started || state.finished || state.running > 0 || state.unacknowledged > 0) return;
  const isOver = state.left === 0 || (isEnding(state) && onlyDoubtIsLeft(state));
  if (isOver) {
    state.finished = true;
    turn.commands.push(finishOf(turn));
  } else turn.commands.push(parkOf(state));
}

/** A plan that is being ended does not wait for operators. */
function onlyDoubtIsLeft(state: EngineState): boolean {
  return state.steps.every(({ final, unit }) => final || unit.status === "IN_DOUBT");
}

function finishOf({ state, records }: Turn): Command {
  const { outputs, leftOut } = resolveOutputs(state.plan, state.outputs, state.texts);
  const missed = leftOut.find((part) => !isLeftOutByCondition(state, part));
  const status = finalStatus(state, missed !== undefined, Object.keys(outputs).length > 0);
  const error = finalError(state, status, missed);
  return { type: "finish", records, status, outputs, ...(error ? { error } : {}) };
}

/** A part that needs a step which a condition skipped is not there, as the plan has it: nothing went wrong. */
function isLeftOutByCondition({ stepsById }: EngineState, { steps }: OutputLeftOut): boolean {
  return steps.some((id) => {
    const unit = stepsById.get(id)?.unit;
    return unit?.status === "SKIPPED" && unit.error?.code === "CONDITION_FALSE";
  });
}

/** @param isMissing - a part of the outputs could not be made. @param isAnyThere - a requested output could */
function finalStatus(state: EngineState, isMissing: boolean, isAnyThere: boolean): FinalPlanStatus {
  const wasCutShort = state.steps.some(
    ({ unit }) => unit.status === "CANCELLED" || unit.status === "IN_DOUBT",
  );
  if (state.stopping?.type === "cancelled" && wasCutShort) return "CANCELLED";
  if (state.stopping?.type === "expired" && wasCutShort) return "EXPIRED";
  if (state.failedBy !== undefined) return "FAILED";
  if (state.firstFailure || isMissing) return isAnyThere ? "PARTIAL" : "FAILED";
  return state.firstShortfall ? "PARTIAL" : "COMPLETED";
}

function finalError(
  state: EngineState,
  status: FinalPlanStatus,
  missed: OutputLeftOut | undefined,
): StepError | undefined {
  const { stopping } = state;
  if (status === "COMPLETED") return undefined;
  if (status === "CANCELLED" && stopping?.type === "cancelled") {
    return { code: "CANCELLED", message: stopping.reason, retryable: false };
  }
  if (status === "EXPIRED") {
    return { code: "DEADLINE_EXCEEDED", message: "The plan's deadline has passed", retryable: false };
  }
  if (!state.firstFailure && state.firstShortfall) return state.firstShortfall.error;
  const culprit =
    state.failedBy === undefined ? state.firstFailure : state.stepsById.get(state.failedBy)?.unit;
  if (!culprit?.error) return missed && outputError(missed);
  const { code, message, retryable } = culprit.error;
  const stepId = culprit.step.step.id;
  return { code, message: `Step '${stepId}' failed: ${message}`, retryable, data: { stepId } };
}

function outputError({ name, message }: OutputLeftOut): StepError {
  return { code: "OUTPUT_UNRESOLVED", message: `Output '${name}' is left out: ${message}`, retryable: false };
}

function parkOf(state: EngineState): Command {
  if (state.paused) return { type: "park", status: "PAUSED", reason: "paused" };
  const next = state.waits.peek();
  if (next?.caller.waiting) {
    return { type: "park", status: "WAITING", reason: next.caller.waiting.reason, until: next.at };
  }
  return { type: "park", status: "WAITING", reason: idleReason(state) };
}

function idleReason(state: EngineState): WaitReason {
  if (state.awaitingApproval > 0) return "approval";
  return state.inDoubt > 0 ? "in doubt" : "dependency";
}
