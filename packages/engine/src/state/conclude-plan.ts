import type { JsonValue, WaitReason } from "@planwright/plan";
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
  const status = finalStatus(state);
  const outputs: { [stepId: string]: JsonValue } = {};
  for (const id of requestedSteps(state)) {
    const output = state.outputs.get(id);
    if (output !== undefined) outputs[id] = output;
  }
  const error = finalError(state, status);
  return { type: "finish", records, status, outputs, ...(error ? { error } : {}) };
}

function requestedSteps(state: EngineState): readonly string[] {
  return state.plan.outputs ?? state.plan.steps.map(({ id }) => id);
}

function finalStatus(state: EngineState): FinalPlanStatus {
  const wasCutShort = state.steps.some(
    ({ unit }) => unit.status === "CANCELLED" || unit.status === "IN_DOUBT",
  );
  if (state.stopping?.type === "cancelled" && wasCutShort) return "CANCELLED";
  if (state.stopping?.type === "expired" && wasCutShort) return "EXPIRED";
  if (state.failedBy !== undefined) return "FAILED";
  if (!state.firstFailure) return "COMPLETED";
  return requestedSteps(state).some((id) => state.outputs.has(id)) ? "PARTIAL" : "FAILED";
}

function finalError(state: EngineState, status: FinalPlanStatus): StepError | undefined {
  const { stopping } = state;
  if (status === "COMPLETED") return undefined;
  if (status === "CANCELLED" && stopping?.type === "cancelled") {
    return { code: "CANCELLED", message: stopping.reason, retryable: false };
  }
  if (status === "EXPIRED") {
    return { code: "DEADLINE_EXCEEDED", message: "The plan's deadline has passed", retryable: false };
  }
  const culprit =
    state.failedBy === undefined ? state.firstFailure : state.stepsById.get(state.failedBy)?.unit;
  if (!culprit?.error) return undefined;
  const { code, message, retryable } = culprit.error;
  const stepId = culprit.step.step.id;
  return { code, message: `Step '${stepId}' failed: ${message}`, retryable, data: { stepId } };
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
