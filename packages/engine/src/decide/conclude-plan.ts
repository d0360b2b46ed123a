import {
  emptyOutputs,
  type FinalPlanStatus,
  type JsonObject,
  type OmittedOutput,
  outputParts,
  type ResolvedOutputs,
  resolveOutputs,
  stepsInValue,
  type WaitReason,
} from "@planwright/plan";
import { shortfallOf } from "../for-each/shortfall.ts";
import { nextExpiry } from "../schedule/approval.ts";
import { addPartOf } from "../schedule/questions.ts";
import type { EngineState } from "../state/engine-state.ts";
import { hasOutputs, isLoading, isOnlyStored, requestedSteps } from "../state/outputs.ts";
import { type Command, MAX_END_BYTES, type StepError } from "../state/protocol.ts";
import type { Turn } from "../state/turn.ts";
import { isEnding, isSkippedByCondition } from "../state/units.ts";
import { expiredError } from "./stop.ts";

/** Ends or parks the plan when nothing is running (invariant 5 of the protocol). */
export function concludePlan(turn: Turn): void {
  const { state } = turn;
  if (!state.started || state.finished || state.running > 0 || state.unacknowledged > 0) return;
  const hasEnded = state.left === 0 || (isEnding(state) && onlyDoubtIsLeft(state));
  if (!hasEnded) {
    if (!isLoading(state)) turn.commands.push(parkOf(state));
    return;
  }
  const finish = finishOf(turn);
  if (!finish) return; // outputs are being loaded
  state.finished = true;
  turn.commands.push(finish);
}

/** True when no output has to be loaded for the plan's end. */
export function canEndNow(state: EngineState): boolean {
  const { plan, stepsById, requestedBytes, firstShortfall } = state;
  if (firstShortfall && !firstShortfall.error) return false;
  const parts = outputParts(plan.outputs);
  if (!parts && requestedBytes > MAX_END_BYTES) return true;
  const needed = parts
    ? stepsInValue(parts, plan).flatMap((id) => stepsById.get(id) ?? [])
    : requestedSteps(state);
  return !needed.some(({ unit }) => isOnlyStored(unit));
}

/** True when all unfinished steps are IN_DOUBT. A plan that is being ended does not wait for operators. */
function onlyDoubtIsLeft(state: EngineState): boolean {
  return state.steps.every(({ final, unit }) => final || unit.status === "IN_DOUBT");
}

/** The `finish` command; undefined while outputs have to be loaded for it. */
function finishOf(turn: Turn): Command | undefined {
  const { state, records } = turn;
  if (!readShortfall(turn)) return undefined;
  const resolved = outputsOf(turn);
  if (!resolved) return undefined;
  const { outputs, leftOut } = resolved;
  const omitted = leftOut.find((part) => !isLeftOutByCondition(state, part));
  const hasAnyOutput = outputs === null || Object.keys(outputs).length > 0;
  const status = finalStatus(state, omitted !== undefined, hasAnyOutput);
  const error = finalError(state, status, omitted);
  return { type: "finish", records, status, outputs, ...(error ? { error } : {}) };
}

/**
 * Completes the error of the first list that completed with failed items before this process had the plan.
 * False while the list's output has to be loaded.
 */
function readShortfall(turn: Turn): boolean {
  const { firstShortfall } = turn.state;
  if (!firstShortfall || firstShortfall.error) return true;
  const { node } = firstShortfall;
  if (!hasOutputs(turn, undefined, [node.unit])) return false;
  firstShortfall.error = shortfallOf(node, node.unit.output);
  return true;
}

type PlanOutputs = Omit<ResolvedOutputs, "outputs"> & { outputs: JsonObject | null };

/**
 * The outputs that the plan returns. Null when they are too large; undefined while some have to be loaded.
 */
function outputsOf(turn: Turn): PlanOutputs | undefined {
  const { state } = turn;
  const { plan, outputs, texts } = state;
  const parts = outputParts(plan.outputs);
  if (parts) return partsOf(turn, parts);
  if (state.requestedBytes > MAX_END_BYTES) return { outputs: null, leftOut: [] };
  const units = requestedSteps(state).map(({ unit }) => unit);
  return hasOutputs(turn, undefined, units) ? resolveOutputs(plan, outputs, texts) : undefined;
}

/** Builds one part after the other, so that memory holds only the outputs that one part refers to. */
function partsOf(turn: Turn, parts: JsonObject): PlanOutputs | undefined {
  const { state } = turn;
  const { plan, stepsById, maxReadBytes } = state;
  state.parts ??= { resolved: emptyOutputs(), made: 0, areLarge: false };
  const progress = state.parts;
  for (const [name, part] of Object.entries(parts).slice(progress.made)) {
    const steps = stepsInValue(part, plan);
    const units = steps.flatMap((id) => stepsById.get(id)?.unit ?? []);
    const bytes = units.reduce((sum, { outputBytes = 0 }) => sum + outputBytes, 0);
    if (bytes > maxReadBytes) {
      const message = `it refers to outputs of ${bytes} bytes together; an executor holds at most ${maxReadBytes} (OUTPUT_MEMORY_BYTES)`;
      progress.resolved.leftOut.push({ name, steps, message });
    } else if (!hasOutputs(turn, undefined, units)) return undefined;
    else if (!addPartOf(turn, progress, [name, part])) return undefined;
    progress.made++;
  }
  const { resolved, areLarge } = progress;
  return areLarge ? { outputs: null, leftOut: resolved.leftOut } : resolved;
}

/** True for a part that needs a step which a condition skipped: the plan intends that, so it is no error. */
function isLeftOutByCondition({ stepsById }: EngineState, { steps }: OmittedOutput): boolean {
  return steps.some((id) => {
    const unit = stepsById.get(id)?.unit;
    return unit !== undefined && isSkippedByCondition(unit);
  });
}

/**
 * @param isMissing - a part of the outputs could not be built
 * @param hasAnyOutput - at least one requested output exists
 */
function finalStatus(state: EngineState, isMissing: boolean, hasAnyOutput: boolean): FinalPlanStatus {
  const wasCutShort = state.steps.some(
    ({ unit }) => unit.status === "CANCELLED" || unit.status === "IN_DOUBT",
  );
  if (state.stopping?.type === "cancelled" && wasCutShort) return "CANCELLED";
  if (state.stopping?.type === "expired" && wasCutShort) return "EXPIRED";
  if (state.failedBy !== undefined) return "FAILED";
  if (state.firstFailure || isMissing) return hasAnyOutput ? "PARTIAL" : "FAILED";
  return state.firstShortfall ? "PARTIAL" : "COMPLETED";
}

function finalError(
  state: EngineState,
  status: FinalPlanStatus,
  omitted: OmittedOutput | undefined,
): StepError | undefined {
  const { stopping } = state;
  if (status === "COMPLETED") return undefined;
  if (status === "CANCELLED" && stopping?.type === "cancelled") {
    return { code: "CANCELLED", message: stopping.reason, retryable: false };
  }
  if (status === "EXPIRED" && stopping?.type === "expired") return expiredError(stopping);
  if (!state.firstFailure && state.firstShortfall) return state.firstShortfall.error;
  const failedUnit =
    state.failedBy === undefined ? state.firstFailure : state.stepsById.get(state.failedBy)?.unit;
  if (!failedUnit?.error) return omitted && outputError(omitted);
  const { code, message, retryable } = failedUnit.error;
  const stepId = failedUnit.step.step.id;
  return { code, message: `Step '${stepId}' failed: ${message}`, retryable, data: { stepId } };
}

function outputError({ name, message }: OmittedOutput): StepError {
  return { code: "OUTPUT_UNRESOLVED", message: `Output '${name}' is left out: ${message}`, retryable: false };
}

function parkOf(state: EngineState): Command {
  const expiresAt = nextExpiry(state);
  const until = expiresAt === undefined ? {} : { until: expiresAt };
  if (state.paused && !isEnding(state)) return { type: "park", status: "PAUSED", reason: "paused", ...until };
  const next = state.waits.peek();
  if (next?.caller.waiting) {
    const first = Math.min(next.at, expiresAt ?? next.at);
    return { type: "park", status: "WAITING", reason: next.caller.waiting.reason, until: first };
  }
  return { type: "park", status: "WAITING", reason: idleReason(state), ...until };
}

function idleReason(state: EngineState): WaitReason {
  if (state.awaitingApproval > 0) return "approval";
  return state.inDoubt > 0 ? "in doubt" : "dependency";
}
