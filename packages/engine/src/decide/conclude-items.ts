import { isForEachStep, isSettledStepStatus } from "@planwright/plan";
import { envelopeOf } from "../for-each/envelope.ts";
import { resumeCaller } from "../schedule/dispatch.ts";
import type { Items, StepNode } from "../state/engine-state.ts";
import { hasOutputs, isOnlyStored, resultsTooLarge } from "../state/outputs.ts";
import { change, type Turn } from "../state/turn.ts";
import { isEnding } from "../state/units.ts";
import { close, stopReason } from "./stop.ts";

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

/** @param minSuccess - a fraction of the called items in (0, 1), or a count; without such items none is needed */
function requiredSuccesses(items: Items, minSuccess = 1): number {
  const count = items.units.length - items.skipped;
  if (count === 0) return 0;
  return minSuccess < 1 ? minSuccess * count : minSuccess;
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
