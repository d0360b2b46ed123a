import {
  type Condition,
  conditionsOf,
  isForEachStep,
  isSettledStepStatus,
  isTerminalStepStatus,
  referencedSteps,
  type Step,
} from "@planwright/plan";
import { admit, countItem, offerWhenDurable } from "../schedule/admit.ts";
import { releaseFromBarriers } from "../schedule/barriers.ts";
import { resumeCaller } from "../schedule/dispatch.ts";
import { envelopeOf, ITEMS_FAILED_WARNING, readsLarge, shortfallOf } from "../schedule/envelope.ts";
import type { EngineState, Items, StepNode, Unit } from "../state/engine-state.ts";
import { applyDecision, canAskAgain } from "../state/may-have-acted.ts";
import {
  countRequested,
  forgetInputs,
  hasOutputs,
  holdOutput,
  isOnlyStored,
  publishOutput,
  resultsTooLarge,
} from "../state/outputs.ts";
import { change, failureModeOf, type Turn } from "../state/turn.ts";
import { isEnding, isSkippedByCondition } from "../state/units.ts";
import { close, stop, stopReason } from "./stop.ts";

/** How a record was acknowledged. */
interface Acknowledgement {
  /** Size of its output in bytes, when the store can return the output. */
  outputBytes?: number | undefined;
  /** The record was acknowledged early: it is not durable yet. */
  isEarly?: boolean | undefined;
}

/** Applies the acknowledgement of a record: it is durable, or was acknowledged early. */
export function settle(turn: Turn, unit: Unit, { outputBytes, isEarly = false }: Acknowledgement = {}): void {
  const { state } = turn;
  if (!unit.unacknowledged) {
    if (unit.isEarly && !isEarly) markDurable(state, unit);
    return;
  }
  acknowledge(state, unit);
  unit.isEarly = isEarly;
  if (outputBytes !== undefined) unit.outputBytes = outputBytes;
  if (unit.item === undefined) settleStep(turn, unit.step);
  else settleItem(turn, unit);
  const { early } = unit;
  unit.early = undefined;
  if (early && !unit.unacknowledged) applyDecision(turn, unit, early);
}

function acknowledge(state: EngineState, unit: Unit): void {
  unit.unacknowledged = false;
  state.unacknowledged--;
  if (unit.caller) unit.caller.unacknowledged--;
  if (unit.item !== undefined && unit.step.forEach) unit.step.forEach.unacknowledged--;
}

/** The record is durable now, so the store can return its output. */
function markDurable(state: EngineState, unit: Unit): void {
  unit.isEarly = false;
  holdOutput(state, unit);
}

/**
 * True when a unit may be called again. In a stopped plan that is only a unit that may have acted, while its
 * result may still be requested.
 */
function mayContinue(turn: Turn, { caller, mayHaveActed }: Unit): boolean {
  if (!turn.state.stopping) return true;
  return mayHaveActed && caller !== undefined && canAskAgain(turn, caller);
}

function settleItem(turn: Turn, unit: Unit): void {
  countItem(turn.state, unit);
  holdOutput(turn.state, unit);
  if (unit.caller && mayContinue(turn, unit)) offerWhenDurable(turn, unit.caller);
  concludeItems(turn, unit.step);
}

function settleStep(turn: Turn, node: StepNode): void {
  const { state } = turn;
  const { unit } = node;
  if (isTerminalStepStatus(unit.status)) {
    finalize(turn, node);
    return;
  }
  switch (unit.status) {
    case "WAITING_APPROVAL":
      state.awaitingApproval++;
      break;
    case "IN_DOUBT":
      state.inDoubt++;
      break;
    case "PENDING":
      admit(turn, node);
      break;
    case "RETRYING":
      if (unit.caller && mayContinue(turn, unit)) offerWhenDurable(turn, unit.caller);
      break;
    case "RUNNING":
      for (const caller of node.forEach?.callers ?? []) if (!state.stopping) offerWhenDurable(turn, caller);
      concludeItems(turn, node);
      break;
    default:
      unit.status satisfies never;
  }
  close(turn, node);
}

/** Takes back a request for approval that was not stored: the step continues as if none were needed. */
export function withdrawApproval(turn: Turn, node: StepNode): void {
  const { unit } = node;
  if (unit.status !== "WAITING_APPROVAL" || !unit.unacknowledged) return;
  node.isDoneBefore = true;
  acknowledge(turn.state, unit);
  unit.status = "PENDING";
  unit.expiresAt = undefined;
  admit(turn, node);
  close(turn, node);
}

/**
 * Applies the durable last state of a step to the rest of the plan. Each edge of the graph is visited once.
 */
export function finalize(turn: Turn, node: StepNode): void {
  const { state } = turn;
  const { unit } = node;
  if (node.final) return;
  node.final = true;
  state.left--;
  state.statuses.set(node.step.id, unit.status);
  publishOutput(state, node);
  if (unit.status === "FAILED" || unit.status === "CANCELLED") afterFailedStep(turn, node);
  const isList = isForEachStep(node.step) || node.tool.contract.batch !== undefined;
  if (unit.status === "COMPLETED" && isList) noteShortfall(turn, node);
  countRequested(state, node);
  holdOutput(state, unit);
  forgetInputs(state, node);
  if (isSkippedByCondition(unit)) skipReaders(turn, node);
  for (const dependent of node.dependents) {
    dependent.unmet--;
    if (dependent.unmet === 0) admit(turn, dependent);
  }
  for (const released of releaseFromBarriers(state)) admit(turn, released);
}

/**
 * A list that completed with failed items makes the plan PARTIAL at best, but stops nothing; so does a batch
 * that was called directly, whose warning says that items failed. A list that is not in memory is loaded, and a
 * large one is read by another thread, when the plan ends.
 */
function noteShortfall({ state }: Turn, node: StepNode): void {
  const { step, unit } = node;
  const items = [...(state.itemRecords.get(step.id)?.values() ?? [])];
  const isUnread = isOnlyStored(unit) || readsLarge(node, unit.output);
  const error = isUnread ? undefined : shortfallOf(node, unit.output);
  const hasFailedItems =
    items.some(({ status }) => status === "FAILED" || status === "IN_DOUBT") ||
    unit.warnings.some((warning) => warning.startsWith(ITEMS_FAILED_WARNING));
  if (error || (isUnread && hasFailedItems)) state.firstShortfall ??= { node, error };
}

function afterFailedStep(turn: Turn, node: StepNode): void {
  const { state } = turn;
  state.firstFailure ??= node.unit;
  const mode = failureModeOf(state, node);
  if (mode !== "run-dependents") skipDependents(turn, node);
  if (mode === "fail-fast" && node.unit.status === "FAILED")
    stop(turn, { type: "failed", stepId: node.step.id });
}

/**
 * Skips all direct and indirect dependents of a failed step. A step whose condition reads the status of the
 * failed step is not skipped: its condition decides.
 */
function skipDependents(turn: Turn, failed: StepNode): void {
  const error = {
    code: "DEPENDENCY_FAILED",
    message: `Skipped because dependency '${failed.step.id}' failed`,
    retryable: false,
  };
  const path = [failed];
  for (let node = path.pop(); node; node = path.pop()) {
    for (const dependent of node.dependents) {
      const conditions = conditionsOf(dependent.step);
      const decides = conditions.some(({ condition }) => readsStatus(condition, node.step.id));
      if (dependent.skipChecked || decides) continue;
      dependent.skipChecked = true;
      const isOpen =
        dependent.unit.status === "PENDING" && !dependent.unit.unacknowledged && !dependent.final;
      if (isOpen) change(turn, dependent.unit, { status: "SKIPPED", error });
      if (dependent.unit.error?.code === "DEPENDENCY_FAILED") path.push(dependent);
    }
  }
}

/**
 * Skips the steps that read the output of a step which a condition skipped. Steps that only come after it
 * continue.
 */
function skipReaders(turn: Turn, skipped: StepNode): void {
  const { policy } = turn.state.plan;
  if (policy.onUnresolvedStep === "keep") return;
  for (const dependent of skipped.dependents) {
    const { unit } = dependent;
    if (dependent.final || unit.status !== "PENDING" || unit.unacknowledged) continue;
    if (!referencedSteps(withoutConditions(dependent.step), turn.state.plan).includes(skipped.step.id))
      continue;
    const message = `Skipped because dependency '${skipped.step.id}' was skipped`;
    change(turn, unit, { status: "SKIPPED", error: { code: "CONDITION_FALSE", message, retryable: false } });
  }
}

function withoutConditions(step: Step): Step {
  const { when: _, ...unconditional } = step;
  if (!isForEachStep(unconditional)) return unconditional;
  const { when: __, ...forEach } = unconditional.forEach;
  return { ...unconditional, forEach };
}

function readsStatus(condition: Condition, stepId: string): boolean {
  if ("status" in condition) return condition.status[0] === stepId;
  if ("not" in condition) return readsStatus(condition.not, stepId);
  if ("all" in condition) return condition.all.some((part) => readsStatus(part, stepId));
  if ("any" in condition) return condition.any.some((part) => readsStatus(part, stepId));
  return false;
}

/** Ends a forEach when everything that it waits for is durable. O(1) until then. */
export function concludeItems(turn: Turn, node: StepNode): void {
  const items = node.forEach;
  if (!items || !isForEachStep(node.step) || node.final || node.unit.unacknowledged) return;
  if (node.active > 0 || items.unacknowledged > 0) return;
  if (node.heldCalls > 0 && !turn.state.stopping) return;
  const open = items.units.length - items.settled - items.inDoubt;
  const allItemsEnded = items.ok + items.failed + items.skipped + items.inDoubt === items.units.length;
  const required = requiredSuccesses(items, node.step.forEach.minSuccess);
  const waits = waitsForOperator(items, required);
  // A plan that is being ended does not wait for operators: a list that waits for one is cut short.
  const isCutShort = isEnding(turn.state) && waits;
  if (turn.state.stopping && (!allItemsEnded || isCutShort)) close(turn, node);
  else if (wasClosed(items))
    return; // the end of the plan or `closeCutShort` closes it
  else if (items.stopped && open > 0) skipOpenItems(turn, node, items);
  else if (items.stopsAtFailure && items.failed > 0)
    fail(turn, node, items, "and the list stops at the first failure");
  else if (open > 0 || waits)
    return; // it waits for calls, a time or an operator
  else if (items.ok < required) fail(turn, node, items, "which is too few");
  else {
    const error = resultsTooLarge(node, items.units);
    if (error) return change(turn, node.unit, { status: "FAILED", error });
    // Only missing ones are asked for: these are read once, so it does not matter which was used last.
    if (items.units.some(isOnlyStored) && !hasOutputs(turn, node, items.units)) return;
    if (node.dependents.length > 0) turn.holdsSlots = true;
    change(turn, node.unit, { status: "COMPLETED", output: envelopeOf(items) });
  }
}

/**
 * Cancels a list that was closed with its plan before a crash when the plan is not being closed now. Some of
 * its items did not run, although no item failed.
 */
export function closeCutShort(turn: Turn, node: StepNode): void {
  const { forEach, unit } = node;
  if (!forEach || !wasClosed(forEach) || node.final || unit.unacknowledged || node.active > 0) return;
  change(turn, unit, { status: "CANCELLED", error: stopReason(turn.state) });
}

/** True for a list with items that were skipped or cancelled although no item failed, and not by its condition. */
function wasClosed({ settled, ok, failed, skipped, stopped }: Items): boolean {
  return !stopped && settled > ok + failed + skipped;
}

/**
 * True when an operator has to decide about items in doubt, because the result of the list depends on them.
 */
function waitsForOperator(items: Items, required: number): boolean {
  if (items.inDoubt === 0) return false;
  if (items.stopsAtFailure) return items.failed === 0;
  return items.ok < required && items.ok + items.inDoubt >= required;
}

/**
 * More than the error of a product of doubles with up to 10,000 items, and less than any share of one item: 0.55 of
 * 100 items is 55.00000000000001 as a double.
 */
const ROUNDING = 1e-9;

/** @param minSuccess - a fraction of the called items in (0, 1), or a count; without such items none is needed */
function requiredSuccesses(items: Items, minSuccess = 1): number {
  const count = items.units.length - items.skipped;
  if (count === 0) return 0;
  return minSuccess < 1 ? Math.ceil(minSuccess * count - ROUNDING) : minSuccess;
}

function skipOpenItems(turn: Turn, node: StepNode, items: Items): void {
  const message = `Skipped because another item of step '${node.step.id}' failed`;
  for (const unit of items.units) {
    if (isSettledStepStatus(unit.status)) continue;
    // Its result is requested first; the list ends after that.
    if (unit.mayHaveActed && unit.caller) {
      if (!unit.caller.waiting) resumeCaller(turn, unit.caller);
      continue;
    }
    const reason = { code: "ITEMS_FAILED", message, retryable: false };
    if (unit.status !== "RETRYING") change(turn, unit, { status: "SKIPPED", error: reason });
    else if (unit.error) change(turn, unit, { status: "FAILED", error: unit.error });
    else change(turn, unit, { status: "CANCELLED", error: reason });
  }
}

function fail(turn: Turn, node: StepNode, items: Items, why: string): void {
  const first = items.units.find(({ status }) => status === "FAILED");
  const cause = first?.error ? `; first: item ${first.item}: ${first.error.message}` : "";
  const skipped = items.skipped > 0 ? ` (${items.skipped} skipped by their condition)` : "";
  const count = items.units.length - items.skipped;
  const message = `${items.ok} of ${count} items succeeded${skipped}, ${why}${cause}`;
  change(turn, node.unit, {
    status: "FAILED",
    error: {
      code: "ITEMS_FAILED",
      message,
      retryable: false,
      data: { ok: items.ok, error: items.failed + items.inDoubt },
    },
  });
}
