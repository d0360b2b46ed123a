import { approvalTimeoutOf, isCallableStep, isForEachStep, isTerminalStepStatus } from "@planwright/plan";
import type { Caller, EngineState, StepNode, Unit } from "../state/engine-state.ts";
import { hasInputs, holdOutput, inputsTooLarge } from "../state/outputs.ts";
import { change, store, type Turn } from "../state/turn.ts";
import { conditionFalse, isSkippedByCondition } from "../state/units.ts";
import { callsToApprove, hasNoCalls, lacksApproval, noteExpiry } from "./approval.ts";
import { holdForBarrier, waitsForBarrier } from "./barriers.ts";
import { resumeCaller } from "./dispatch.ts";
import { expandForEach } from "./expand.ts";
import { approvableOf, conditionOf, itemsOfList } from "./questions.ts";
import { enqueue, offer, stopList, waitUntil } from "./slots.ts";

/**
 * Advances a step whose dependencies are final: condition, approval, items, call. Condition and approval need
 * not wait for barriers, because the outputs that they read are final.
 */
export function admit(turn: Turn, node: StepNode): void {
  const { state } = turn;
  if (node.final || node.unit.unacknowledged || node.unit.status !== "PENDING" || state.stopping) return;
  if (state.paused) {
    state.held.push(node);
    return;
  }
  const tooLarge = inputsTooLarge(state, node);
  if (tooLarge) return change(turn, node.unit, { status: "FAILED", error: tooLarge });
  if (readsNow(state, node) && !hasInputs(turn, node)) return; // admitted again when they are loaded
  if (!node.admitted && !conditionHolds(turn, node)) return;
  node.admitted = true;
  const { refusal } = node.tool;
  if (refusal) {
    change(turn, node.unit, { status: "FAILED", error: refusal });
    return;
  }
  if (lacksApproval(node)) askForApproval(turn, node);
  else if (waitsForBarrier(state, node)) holdForBarrier(state, node);
  else if (isForEachStep(node.step)) expand(turn, node);
  else if (node.unit.caller) offer(state, node.unit.caller);
}

/** True when the next stage of a step reads outputs now; a plain call reads them only when it starts. */
function readsNow(state: EngineState, node: StepNode): boolean {
  if (!node.admitted && node.step.when) return true;
  if (lacksApproval(node)) return true;
  return isForEachStep(node.step) && !waitsForBarrier(state, node);
}

/**
 * Requests approval, unless nothing would be called. The arguments cannot change any more: every output that they
 * refer to is durable.
 */
function askForApproval(turn: Turn, node: StepNode): void {
  const { state, at } = turn;
  const approvable = approvableOf(turn, node);
  if (!approvable) return; // admitted again with the answer
  if (!approvable.ok) {
    change(turn, node.unit, { status: "FAILED", error: approvable.error });
    return;
  }
  if (isForEachStep(node.step) && "value" in approvable && hasNoCalls(approvable.value)) {
    node.isDoneBefore = true;
    return admit(turn, node);
  }
  const expiresAt = at + approvalTimeoutOf(state.plan.policy);
  const inRecord =
    "large" in approvable ? { largeArguments: approvable.large } : { arguments: approvable.value };
  change(turn, node.unit, { status: "WAITING_APPROVAL", inRecord, expiresAt });
  turn.toApprove.push(...callsToApprove(node, approvable));
  noteExpiry(state, expiresAt);
}

/** Evaluates `when`; records SKIPPED or FAILED when the step must not run. False also while the shell reads it. */
function conditionHolds(turn: Turn, node: StepNode): boolean {
  const { when } = node.step;
  if (!when) return true;
  const result = conditionOf(turn, node, when);
  if (!result) return false; // admitted again with the answer
  if (!result.ok) {
    change(turn, node.unit, { status: "FAILED", error: result.error });
    return false;
  }
  if (result.holds) return true;
  change(turn, node.unit, { status: "SKIPPED", error: conditionFalse() });
  return false;
}

/**
 * Determines the items of a forEach and asks the shell to store their records before the first call. After a
 * crash only missing records are stored.
 */
export function expand(turn: Turn, node: StepNode): void {
  if (!isForEachStep(node.step) || node.forEach) return;
  const list = itemsOfList(turn, node, node.step);
  if (!list) return; // expanded when they are resolved
  const expansion = expandForEach(turn.state, node, node.step, list);
  if (!expansion.ok) {
    change(turn, node.unit, { status: "FAILED", error: expansion.error });
    return;
  }
  const { items } = expansion;
  const records = turn.state.itemRecords.get(node.step.id);
  turn.state.itemRecords.delete(node.step.id);
  node.forEach = items;
  node.concurrency = node.step.forEach.concurrency ?? Number.POSITIVE_INFINITY;
  node.unit.warnings = [...new Set([...node.unit.warnings, ...expansion.warnings])].toSorted();
  if (node.unit.status !== "RUNNING") change(turn, node.unit, { status: "RUNNING" });
  for (const unit of items.units) {
    const { item = -1 } = unit;
    const record = records?.get(item);
    const notCalled = items.notCalled.get(item);
    // Of a turn that was stored in parts, only the expansion may be durable: then the item is still PENDING.
    if (notCalled && !isTerminalStepStatus(unit.status)) change(turn, unit, notCalled);
    else if (!record) store(turn, unit);
    else {
      countItem(turn.state, unit);
      holdOutput(turn.state, unit);
    }
  }
}

/** Counts an item whose record is durable. */
export function countItem(state: EngineState, unit: Unit): void {
  const { forEach } = unit.step;
  if (!forEach) return;
  if (unit.status === "IN_DOUBT") {
    forEach.inDoubt++;
    state.inDoubt++;
  }
  if (!isTerminalStepStatus(unit.status)) return;
  forEach.settled++;
  if (unit.status === "COMPLETED") forEach.ok++;
  if (isSkippedByCondition(unit)) forEach.skipped++;
  if (unit.status === "FAILED") {
    forEach.failed++;
    stopList(state, unit.step);
  }
}

/**
 * Makes a caller ready when everything it needs is durable: the records of its units and the expansion of the
 * forEach.
 */
export function offerWhenDurable(turn: Turn, caller: Caller): void {
  const { step } = caller;
  if (caller.calling || caller.held || caller.waiting || step.unit.unacknowledged) return;
  if (caller.unacknowledged > 0) return; // called once for each unit, of which a batch has up to 10,000
  const open = caller.units.filter(({ status }) => isCallableStep(status));
  if (open.length === 0) return;
  const until = open.reduce((latest, unit) => Math.max(latest, unit.nextAttemptAt ?? 0), 0);
  if (until > turn.at) waitUntil(turn.state, caller, { until, reason: "backoff" });
  else resumeCaller(turn, caller);
  enqueue(turn.state, step);
}
