import {
  emptyOutputs,
  type FinalPlanStatus,
  isCarried,
  isTerminalStepStatus,
  type JsonObject,
  JsonText,
  type OmittedOutput,
  outputParts,
  type ResolvedOutputs,
  resolveOutputs,
  stepsInValue,
  type WaitReason,
} from "@planwright/plan";
import { admit, expand, offerWhenDurable } from "../schedule/admit.ts";
import { expireApprovals, nextExpiry, noteExpiry } from "../schedule/approval.ts";
import { callAgain, callHeld, checkWaits, dispatch, resumeCaller } from "../schedule/dispatch.ts";
import { unitsOfThisVersion } from "../schedule/prepare.ts";
import { addPartOf, shortfallNow } from "../schedule/questions.ts";
import { enqueue } from "../schedule/slots.ts";
import type { Caller, EngineState, StepNode, Unit } from "../state/engine-state.ts";
import {
  applyDecision,
  executorLost,
  hasResults,
  isRead,
  noteLostAnswer,
  resendsAllItems,
} from "../state/may-have-acted.ts";
import {
  applyLoaded,
  dropTo,
  hasInputs,
  hasOutputs,
  isLoading,
  isOnlyStored,
  requestedSteps,
} from "../state/outputs.ts";
import {
  type Command,
  type EngineEvent,
  MAX_END_BYTES,
  type StepError,
  type StepRecord,
} from "../state/protocol.ts";
import { change, type Turn } from "../state/turn.ts";
import { isEnding, isSkippedByCondition } from "../state/units.ts";
import { attemptEnded, refuse } from "./attempt-ended.ts";
import { closeCutShort, concludeItems, finalize, settle, withdrawApproval } from "./settle.ts";
import { close, endGrace, expiredError, stop } from "./stop.ts";

/**
 * Applies an event (or several of one instant, in order), changes `state` in place, and returns what the
 * shell has to do, in that order. Deterministic, without I/O, clock or randomness (protocol invariants 1 and
 * 4). One event costs O(log V) for each step that it concerns, so a complete run takes O((V+E) log V).
 * `cancel`, `deadline` and `pause` may come before `started`. After `finish` no event gives commands.
 */
export function decide(state: EngineState, event: EngineEvent | readonly EngineEvent[]): Command[] {
  if (state.finished) return [];
  const turn: Turn = { state, at: 0, random: 0, holdsSlots: false, records: [], toApprove: [], commands: [] };
  for (const each of isList(event) ? event : [event]) {
    turn.at = each.at;
    turn.random = each.type === "attempt.ended" ? each.random : 0;
    applyEvent(turn, each);
  }
  if (!state.started) return [];
  checkWaits(turn);
  expireApprovals(turn);
  endGrace(turn);
  callHeld(turn);
  if (!turn.holdsSlots || turn.records.length === 0) dispatch(turn);
  settleLast(turn);
  concludePlan(turn);
  return turn.records.length === 0 || state.finished
    ? turn.commands
    : [recordCommandOf(turn), ...turn.commands];
}

function recordCommandOf({ state, records, toApprove }: Turn): Command {
  const isRepeatable = records.every(({ key, status }) => {
    const unit = state.units.get(key);
    return status === "COMPLETED" && unit !== undefined && isRead(unit.step.tool);
  });
  return { type: "record", records, isRepeatable, ...(toApprove.length > 0 && { toApprove }) };
}

/**
 * Settles the last records of the plan without an acknowledgement: only the plan's end follows from them, and
 * `finish` carries them (invariant 2 of the protocol).
 */
function settleLast(turn: Turn): void {
  const { state, records } = turn;
  if (records.length === 0 || state.unacknowledged > records.length || state.running > 0) return;
  if (records.some(({ item }) => item !== undefined)) return;
  const units = records.flatMap(({ key }) => state.units.get(key) ?? []);
  // The output of a carried unit can be read once its record is durable.
  const isLast = units.every((unit) => isTerminalStepStatus(unit.status) && !unit.isCarried);
  if (isLast && state.left === units.length && canEndNow(state)) for (const unit of units) settle(turn, unit);
}

function isList(event: EngineEvent | readonly EngineEvent[]): event is readonly EngineEvent[] {
  return Array.isArray(event);
}

function applyEvent(turn: Turn, event: EngineEvent): void {
  const { state } = turn;
  switch (event.type) {
    case "started":
      if (!state.started) start(turn);
      return;
    case "attempt.ended":
      attemptEnded(turn, event);
      return;
    case "refused":
      refuse(turn, event);
      return;
    case "recorded":
      for (const key of event.keys) {
        const unit = state.units.get(key);
        if (unit) settle(turn, unit, { outputBytes: event.sizes?.get(key), isEarly: event.isEarly });
      }
      return;
    case "loaded":
      applyLoaded(state, event);
      continueStep(turn, event.id);
      return;
    case "answered":
      state.answers.set(event.id, event.answer);
      continueStep(turn, event.id);
      return;
    case "drop":
      dropTo(state, event.toBytes);
      return;
    case "timer":
      // Timers of the platform may fire too early: `checkWaits` then asks for another one.
      state.timerAt = undefined;
      return;
    case "deferral.ended": {
      const caller = state.units.get(event.key)?.caller;
      // A backoff is not cut short.
      if (!caller?.waiting || caller.waiting.reason === "backoff") return;
      caller.waiting = undefined;
      resumeCaller(turn, caller);
      return;
    }
    case "cancel":
      stop(turn, { type: "cancelled", reason: event.reason });
      return;
    case "deadline":
      stop(turn, { type: "expired", message: event.message });
      return;
    case "pause":
      state.paused = true;
      return;
    case "resume":
      state.paused = false;
      for (const node of state.held.splice(0)) admit(turn, node);
      return;
    case "approval": {
      const unit = state.stepsById.get(event.stepId)?.unit;
      const decision = { type: "approval", approved: event.approved, reason: event.reason } as const;
      if (unit) applyDecision(turn, unit, decision);
      return;
    }
    case "approval.unneeded": {
      const node = state.stepsById.get(event.stepId);
      if (node) withdrawApproval(turn, node);
      return;
    }
    case "resolve": {
      const unit = state.units.get(event.key);
      if (unit) applyDecision(turn, unit, { type: "resolve", resolution: event.resolution });
      return;
    }
  }
}

/**
 * Resumes from the durable records: first the calls that were running, then the consequences of final steps.
 */
function start(turn: Turn): void {
  const { state } = turn;
  state.started = true;
  for (const node of state.steps) restoreStep(turn, node);
  // Collected before steps are finalized: a step whose last dependency is finalized here is admitted by
  // `finalize`, and only once.
  const roots = state.steps.filter((node) => node.unmet === 0);
  for (const node of state.steps) if (isRecordedFinal(node)) finalize(turn, node);
  for (const node of roots) admit(turn, node);
  const closeNode = state.stopping ? close : closeCutShort;
  for (const node of state.steps) closeNode(turn, node);
}

/** Continues the step that waited for outputs or for an answer. */
function continueStep(turn: Turn, id: string): void {
  const { state } = turn;
  const node = state.loading.get(id)?.node;
  state.loading.delete(id);
  if (!node || !state.started) return; // every turn tries to conclude the plan
  if (node.waitsIn === "loading") {
    node.waitsIn = "nowhere";
    enqueue(state, node);
  } else if (node.unit.caller) admit(turn, node);
  else if (node.forEach) concludeItems(turn, node);
  else {
    restoreList(turn, node);
    admit(turn, node);
    if (state.stopping) close(turn, node);
  }
}

function isRecordedFinal({ unit }: StepNode): boolean {
  if (unit.unacknowledged) return false;
  return isTerminalStepStatus(unit.status);
}

function restoreStep(turn: Turn, node: StepNode): void {
  const { state } = turn;
  const { unit } = node;
  if (unit.status === "WAITING_APPROVAL") {
    state.awaitingApproval++;
    noteExpiry(state, unit.expiresAt);
  }
  if (unit.status === "IN_DOUBT") state.inDoubt++;
  if (unit.caller) {
    restoreCaller(turn, unit.caller);
    return;
  }
  restoreList(turn, node);
}

/** Continues a list that has started; when its inputs are not in memory, after they are loaded. */
function restoreList(turn: Turn, node: StepNode): void {
  const { state } = turn;
  const { unit } = node;
  const hasBegun = unit.status === "PENDING" && hasItemsOfThisVersion(state.itemRecords.get(node.step.id));
  if ((unit.status !== "RUNNING" && !hasBegun) || !hasInputs(turn, node)) return;
  expand(turn, node);
  if (!node.forEach) return;
  for (const caller of node.forEach.callers) restoreCaller(turn, caller);
  concludeItems(turn, node);
}

/**
 * True when items of this version are durable. They are written together with the record of their step, so
 * they may be durable while it is not. Items of an earlier version do not show that the list has started.
 */
function hasItemsOfThisVersion(records: ReadonlyMap<number, StepRecord> | undefined): boolean {
  return [...(records?.values() ?? [])].some((record) => !isCarried(record));
}

function restoreCaller(turn: Turn, caller: Caller): void {
  const statuses = caller.units.map(({ status }) => status);
  if (statuses.includes("RUNNING")) restoreLostCall(turn, caller);
  // In a stopped plan `close` asks for the results.
  else if (turn.state.stopping) return;
  else if (statuses.includes("RETRYING") || caller.step.forEach) offerWhenDurable(turn, caller);
}

function isOpen({ status }: Unit): boolean {
  return !isTerminalStepStatus(status);
}

/**
 * A call was running when its executor died: K and R are sent again, V is looked up, U is in doubt.
 */
function restoreLostCall(turn: Turn, caller: Caller): void {
  const lost = caller.units.filter(({ status }) => status === "RUNNING");
  const { tool } = caller.step;
  // A batch that is sent again with all items also acts for items whose intents were not durable yet.
  noteLostAnswer(resendsAllItems(tool) && !tool.refusal ? unitsOfThisVersion(caller).filter(isOpen) : lost);
  if (turn.state.stopping) return;
  if (hasResults(tool)) callAgain(turn, caller);
  else for (const unit of lost) change(turn, unit, { status: "IN_DOUBT", error: executorLost(unit) });
}

/** Ends or parks the plan when nothing is running (invariant 5 of the protocol). */
function concludePlan(turn: Turn): void {
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
function canEndNow(state: EngineState): boolean {
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
 * False while the list's output has to be loaded or read.
 */
function readShortfall(turn: Turn): boolean {
  const { firstShortfall } = turn.state;
  if (!firstShortfall || firstShortfall.error) return true;
  const { node } = firstShortfall;
  if (!hasOutputs(turn, undefined, [node.unit])) return false;
  const answer = shortfallNow(turn, node);
  if (!answer) return false;
  // Its items or its warning say that items failed, so there is an error.
  firstShortfall.error = answer.error;
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
  const units = requestedSteps(state).map(({ unit }) => unit);
  const lastBytes = units.reduce((sum, { output, outputBytes }) => {
    const isLast = outputBytes === undefined && output instanceof JsonText;
    return isLast ? sum + output.sizeBytes : sum;
  }, 0);
  if (state.requestedBytes + lastBytes > MAX_END_BYTES) return { outputs: null, leftOut: [] };
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
