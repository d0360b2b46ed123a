import { isTerminalStepStatus } from "@planwright/plan";
import { stopList } from "../for-each/stop-list.ts";
import type { Call } from "../protocol.ts";
import type { Caller, EngineState, Unit } from "../state/engine-state.ts";
import { change, type Turn } from "../state/turn.ts";
import { isEnding } from "../state/units.ts";
import { approvableOf, needsApproval } from "./approval.ts";
import { enqueue, isBusy, occupy, wakeBarrier, wakeOpener, wakeTool } from "./places.ts";
import { prepareCall } from "./prepare.ts";

/**
 * Starts what may start (DESIGN, start rule): best rank first, while the plan is below `maxParallel`, the tool below its limit,
 * and no barrier runs; a barrier starts only beside nothing, and when nothing that stands before it could start. Nothing that could
 * start is left behind.
 */
export function dispatch(turn: Turn): void {
  const { state } = turn;
  if (!state.started || state.paused || state.stopping) return;
  // Others would keep it from ever being alone.
  if (state.heldCalls.some(({ step }) => step.tool.contract.barrier)) return;
  while (!state.failing && !state.barrierRunning && state.running < state.plan.policy.maxParallel) {
    const node = state.ready.pop();
    if (!node) {
      if (wakeBarrier(state) || (state.readyBarriers.size === 0 && wakeOpener(state))) continue;
      return;
    }
    node.place = "nowhere";
    if (node.opens !== undefined) {
      node.place = "opener";
      state.openers.push(node);
      continue;
    }
    if (node.tool.contract.barrier && (isBusy(state) || (state.ready.size > 0 && !node.goesFirst))) {
      node.place = "barrier";
      state.readyBarriers.push(node);
      continue;
    }
    if (node.tool.running >= node.tool.limit) {
      node.place = "limit";
      node.tool.blocked.push(node);
      continue;
    }
    const caller = node.final || node.forEach?.stopped ? undefined : node.callers.pop();
    if (!caller || !startCall(turn, caller)) wakeTool(state, node);
    enqueue(state, node);
  }
}

/**
 * Goes on with a call that is under way as far as anybody knows: as soon as there is a place for it and the plan is not paused.
 * After a crash there may be more of them than places: the owner before had made room by results that were lost with it.
 */
export function callAgain(turn: Turn, caller: Caller): void {
  turn.state.heldCalls.push(caller);
  caller.step.heldCalls++;
  callHeld(turn);
}

/** Makes the calls that are held up, oldest first, as far as there are places; none in a plan that is being ended. */
export function callHeld(turn: Turn): void {
  const { state } = turn;
  if (state.paused || state.heldCalls.length === 0) return;
  for (const caller of state.heldCalls.splice(0)) {
    const isOpen =
      !isEnding(state) &&
      caller.units.some(({ status, unacknowledged }) => status === "RUNNING" && !unacknowledged);
    if (isOpen && !hasPlace(state, caller)) {
      state.heldCalls.push(caller);
      continue;
    }
    caller.step.heldCalls--;
    if (isOpen) startCall(turn, caller);
  }
}

function hasPlace({ running, barrierRunning, plan }: EngineState, { step }: Caller): boolean {
  const { tool, active, concurrency } = step;
  if (barrierRunning || running >= plan.policy.maxParallel) return false;
  if (tool.running >= tool.limit || active >= concurrency) return false;
  return running === 0 || !tool.contract.barrier;
}

/** Asks for a caller's next call. False when its arguments do not allow one: the units are FAILED then. */
export function startCall(turn: Turn, caller: Caller): boolean {
  // Protocol invariant 3, whatever led here: a unit has at most one call under way, and none once its end is asked for.
  if (caller.calling || caller.units.every(isOver)) return false;
  const { prepared, refused } = prepareCall(turn.state, caller);
  for (const { unit, error } of refused) {
    if (!isTerminalStepStatus(unit.status) && !unit.unacknowledged)
      change(turn, unit, { status: "FAILED", error });
  }
  if (refused.length > 0) stopList(turn.state, caller.step);
  if (!prepared) return false;
  caller.attempts++;
  for (const unit of prepared.sent) {
    if (isTerminalStepStatus(unit.status)) continue;
    unit.status = "RUNNING";
    unit.attempts = caller.attempts;
    unit.warnings = prepared.warnings;
    unit.nextAttemptAt = undefined;
  }
  occupy(turn.state, caller);
  turn.commands.push({ type: "call", call: callOf(turn.state, caller, prepared.arguments) });
  return true;
}

function isOver(unit: Unit): boolean {
  return unit.unacknowledged || isTerminalStepStatus(unit.status);
}

function callOf(state: EngineState, caller: Caller, args: Call["arguments"]): Call {
  const { step, tool } = caller.step;
  const items = caller.prepared?.sent.flatMap(({ item }) => (item === undefined ? [] : [item])) ?? [];
  const call: Call = {
    key: caller.key,
    stepId: step.id,
    attempt: caller.attempts,
    tool: tool.name,
    arguments: args,
    effectClass: tool.effectClass,
    timeoutMs: Math.min(
      state.plan.policy.stepTimeoutMs,
      step.timeoutMs ?? Number.POSITIVE_INFINITY,
      tool.contract.timeoutMs ?? Number.POSITIVE_INFINITY,
    ),
  };
  if (items.length > 0) call.items = items;
  if (caller.verify) call.verify = true;
  if (caller.step.unit.approved || needsApproval(caller.step)) {
    const approvable = approvableOf(state, caller.step);
    call.approvable = approvable.ok ? approvable.value : {};
  }
  return call;
}
