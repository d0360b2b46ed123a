import {
  callTimeout,
  isForEachStep,
  isSettledStepStatus,
  isStepActive,
  isTerminalStepStatus,
} from "@planwright/plan";
import { insertsLarge } from "../state/arguments.ts";
import type { Caller, EngineState, Prepared, StepNode, Unit } from "../state/engine-state.ts";
import {
  asksLookup,
  callOnceMore,
  canAskAgain,
  mayHaveActed,
  refusedChange,
} from "../state/may-have-acted.ts";
import { hasInputs } from "../state/outputs.ts";
import type { Call } from "../state/protocol.ts";
import { change, type Turn } from "../state/turn.ts";
import { isEnding } from "../state/units.ts";
import { needsApproval } from "./approval.ts";
import { prepareCall, unitsToSend } from "./prepare.ts";
import { approvableOf, itemsOfList } from "./questions.ts";
import {
  enqueue,
  isBusy,
  occupy,
  offer,
  stopList,
  takeDue,
  takeOffered,
  wakeBarrier,
  wakeOpener,
  wakeTool,
} from "./slots.ts";

/**
 * Starts ready steps: highest rank first, while the plan is below `maxParallel`, the
 * tool below its limit, and no barrier runs. A barrier starts only when nothing runs and no other ready step
 * can start. Every step that may start does start.
 */
export function dispatch(turn: Turn): void {
  const { state } = turn;
  if (!state.started || state.paused || state.stopping) return;
  // A held barrier call has to run alone: other calls would delay it forever.
  if (state.heldCalls.some(({ step }) => step.tool.contract.barrier)) return;
  for (const { node } of state.loading.values())
    if (node?.waitsIn === "loading" && node.tool.contract.barrier) return;
  const { maxParallel } = state.plan.policy;
  while (!state.failing && !state.barrierRunning && state.running + state.loading.size < maxParallel) {
    const node = state.ready.pop();
    if (!node) {
      if (wakeBarrier(state) || (state.readyBarriers.size === 0 && wakeOpener(state))) continue;
      return;
    }
    node.waitsIn = "nowhere";
    if (node.opens !== undefined) {
      node.waitsIn = "opener";
      state.openers.push(node);
      continue;
    }
    if (node.tool.contract.barrier && (isBusy(state) || (state.ready.size > 0 && !node.goesFirst))) {
      node.waitsIn = "barrier";
      state.readyBarriers.push(node);
      continue;
    }
    if (node.tool.running >= node.tool.limit) {
      node.waitsIn = "limit";
      node.tool.blocked.push(node);
      continue;
    }
    const hasCall = !node.final && !node.forEach?.stopped && node.callers.size > 0;
    if (hasCall && !canResolve(turn, node)) {
      node.waitsIn = "loading";
      wakeTool(state, node);
      continue;
    }
    const caller = hasCall ? takeOffered(node) : undefined;
    if (!caller || !startCall(turn, caller)) wakeTool(state, node);
    enqueue(state, node);
  }
}

/**
 * Holds a call with unknown result, to be repeated in this turn or as soon as there is a slot and the plan is
 * not paused. After a crash there may be more such calls than slots, because results that freed slots were
 * lost with the former owner.
 */
export function callAgain({ state }: Turn, caller: Caller): void {
  state.heldCalls.push(caller);
  caller.held = true;
  caller.step.heldCalls++;
}

/**
 * Resumes a caller that waited. When nothing new may start, only a caller that may have acted continues, as a
 * held call.
 */
export function resumeCaller(turn: Turn, caller: Caller): void {
  const { stopping } = turn.state;
  if (!stopping && !caller.step.forEach?.stopped) offer(turn.state, caller);
  else if (mayHaveActed(caller) && !caller.held && !caller.calling) callAgain(turn, caller);
}

/** Resumes callers whose time has come. */
export function checkWaits(turn: Turn): void {
  for (const caller of takeDue(turn)) resumeCaller(turn, caller);
}

/**
 * Makes the held calls, oldest first, while there are slots. In a plan that is being ended only calls that
 * settle a result.
 */
export function callHeld(turn: Turn): void {
  const { state } = turn;
  if ((state.paused && !isEnding(state)) || state.heldCalls.length === 0) return;
  const { heldCalls } = state;
  for (let next = 0, caller = heldCalls[0]; caller; caller = heldCalls[next]) {
    // There may be thousands of held calls. A plan that is being ended needs no further check of them without
    // a slot: a call that ends continues here.
    if (isEnding(state) && state.running >= state.plan.policy.maxParallel) return;
    const isOpen =
      (!isEnding(state) || (mayHaveActed(caller) && canAskAgain(turn, caller))) &&
      caller.units.some(isToBeRepeated);
    const canStart = () => isDurable(caller) && hasSlot(state, caller) && canResolve(turn, caller.step);
    if (isOpen && !canStart()) {
      next++;
      continue;
    }
    heldCalls.splice(next, 1);
    caller.held = false;
    caller.step.heldCalls--;
    if (isOpen) startCall(turn, caller);
  }
}

/**
 * True when the arguments of a step's next call can be resolved: its inputs are in memory, or the shell reads
 * large ones. The shell has no list of items, and the calls of a list are compared with what was approved.
 */
function canResolve(turn: Turn, node: StepNode): boolean {
  const { forEach, step } = node;
  const isCompared = forEach !== undefined && isApproved(node) && !node.approvable;
  const isByShell = insertsLarge(turn.state, node) && (!forEach || forEach.values !== undefined);
  if (isByShell && !isCompared) return true;
  if (!hasInputs(turn, node)) return false;
  if (isCompared && !approvableOf(turn, node)) return false;
  if (!forEach || forEach.values || !isForEachStep(step)) return true;
  // They were dropped with the outputs that they come from.
  const list = itemsOfList(turn, node, step);
  if (list?.ok) forEach.values = list.values;
  return list !== undefined;
}

/** True for a step whose calls are compared with what an operator approved. */
function isApproved(node: StepNode): boolean {
  return node.unit.approved || needsApproval(node);
}

/**
 * True for a unit whose call was sent and is to be repeated. After an operator's "retry" of a repeatable call
 * the unit is PENDING until then.
 */
function isToBeRepeated({ status, mayHaveActed: acted, unacknowledged }: Unit): boolean {
  return (isStepActive(status) || (status === "PENDING" && acted)) && !unacknowledged;
}

/**
 * True when no record of the caller's units is being stored. The records of 10,000 items are stored in parts: the
 * intent of another call would come between them.
 */
function isDurable({ unacknowledged }: Caller): boolean {
  return unacknowledged === 0;
}

function hasSlot({ running, barrierRunning, plan }: EngineState, { step }: Caller): boolean {
  const { tool, active, concurrency } = step;
  if (barrierRunning || running >= plan.policy.maxParallel) return false;
  if (tool.running >= tool.limit || active >= concurrency) return false;
  return running === 0 || !tool.contract.barrier;
}

/**
 * Gives the command for a caller's next call. False when no call is made: its arguments are invalid and the
 * units FAILED, or its units in doubt must become PENDING first.
 */
function startCall(turn: Turn, caller: Caller): boolean {
  // Protocol invariant 3, checked on every path: a unit has at most one running call, none once its end is
  // being stored, and none while it is in doubt, except as part of a repeated batch.
  if (caller.calling || !isDurable(caller)) return false;
  if (caller.units.every(({ status }) => isSettledStepStatus(status))) return false;
  if (resetUnitsInDoubt(turn, caller)) return false;
  const { prepared, refused } = prepareCall(turn.state, caller);
  const failed = refused.filter(({ unit }) => !hasEnded(unit) && unit.status !== "IN_DOUBT");
  for (const { unit, error } of failed) change(turn, unit, refusedChange(unit, caller, error));
  if (refused.length > 0) stopList(turn.state, caller.step);
  if (!prepared) return false;
  caller.attempts++;
  for (const unit of prepared.sent) {
    if (isTerminalStepStatus(unit.status)) continue;
    unit.status = "RUNNING";
    unit.attempts = caller.attempts;
    unit.warnings = prepared.warnings;
    unit.nextAttemptAt = undefined;
    if (unit.step.unanswered.has(unit.key)) unit.mayHaveActed = true;
  }
  occupy(turn.state, caller);
  turn.commands.push({ type: "call", call: callOf(turn, caller, prepared) });
  return true;
}

/**
 * A batch that is sent again with all items also asks for the results of its items in doubt. By their
 * lifecycle they must become PENDING before the next call, and that must be durable first: the
 * acknowledgement of these records makes the call. True when there were such items.
 */
function resetUnitsInDoubt(turn: Turn, caller: Caller): boolean {
  if (caller.step.tool.refusal) return false; // nothing is sent, and they still wait for the operator
  const inDoubt = unitsToSend(caller).filter(({ status }) => status === "IN_DOUBT");
  for (const unit of inDoubt) callOnceMore(turn, unit);
  return inDoubt.length > 0;
}

function hasEnded(unit: Unit): boolean {
  return unit.unacknowledged || isTerminalStepStatus(unit.status);
}

function callOf(turn: Turn, caller: Caller, prepared: Prepared): Call {
  const { state, at } = turn;
  const { step, tool } = caller.step;
  const isLookup = asksLookup(caller);
  const graceMs = isEnding(state) ? (state.graceEndsAt ?? at) - at : Number.POSITIVE_INFINITY;
  const items = prepared.sent.flatMap(({ item }) => (item === undefined ? [] : [item]));
  const { timeoutMs } = callTimeout({
    stepMs: step.timeoutMs,
    policyMs: state.plan.policy.stepTimeoutMs,
    contractMs: tool.contract.timeoutMs,
    maxStepMs: state.maxStepTimeoutMs,
  });
  const call: Call = {
    key: caller.key,
    stepId: step.id,
    attempt: caller.attempts,
    ...tool.ofCall,
    arguments: prepared.arguments,
    errors: tool.contract.errors,
    timeoutMs: Math.min(graceMs, timeoutMs),
  };
  if (prepared.unresolved) call.unresolved = prepared.unresolved;
  if (items.length > 0) call.items = items;
  if (prepared.itemHashes) call.itemHashes = prepared.itemHashes;
  if (isLookup) {
    call.verify = true;
    call.mayAct = false;
  }
  if (isEnding(state)) call.settles = true;
  if (isApproved(caller.step)) Object.assign(call, approvableOfCall(turn, caller, prepared));
  return call;
}

function approvableOfCall(
  turn: Turn,
  { step: node }: Caller,
  { unresolved }: Prepared,
): Pick<Call, "approvable" | "largeApprovable"> {
  if (unresolved && !isForEachStep(node.step)) return { largeApprovable: "arguments" };
  const approvable = approvableOf(turn, node);
  if (!approvable?.ok) return { approvable: {} };
  return "large" in approvable ? { largeApprovable: approvable.large } : { approvable: approvable.value };
}
