import { callTimeout, isSettledStepStatus, isStepActive, isTerminalStepStatus } from "@planwright/plan";
import { stopList } from "../for-each/stop-list.ts";
import { callOnceMore } from "../state/decisions.ts";
import type { Caller, EngineState, Unit } from "../state/engine-state.ts";
import { asksLookup, canAskAgain, mayHaveActed, refusedAs } from "../state/may-have-acted.ts";
import { hasInputs } from "../state/outputs.ts";
import type { Call } from "../state/protocol.ts";
import { change, type Turn } from "../state/turn.ts";
import { isEnding } from "../state/units.ts";
import { approvableOf, needsApproval } from "./approval.ts";
import { prepareCall, unitsToSend } from "./prepare.ts";
import {
  enqueue,
  isBusy,
  occupy,
  offer,
  takeDue,
  takeOffered,
  wakeBarrier,
  wakeOpener,
  wakeTool,
} from "./slots.ts";

/**
 * Starts what may start (DESIGN, start rule): best rank first, while the plan is below `maxParallel`, the
 * tool below its limit, and no barrier runs; a barrier starts only beside nothing, and when nothing that
 * stands before it could start. Nothing that could start is left behind.
 */
export function dispatch(turn: Turn): void {
  const { state } = turn;
  if (!state.started || state.paused || state.stopping) return;
  // Others would keep it from ever being alone.
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
    if (hasCall && !hasInputs(turn, node)) {
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
 * Continues a call whose end is unknown: in this turn, or as soon as there is a slot for it and the plan is
 * not paused. After a crash there may be more of them than slots: the former owner had freed slots by results
 * that were lost with it.
 */
export function callAgain({ state }: Turn, caller: Caller): void {
  state.heldCalls.push(caller);
  caller.held = true;
  caller.step.heldCalls++;
}

/**
 * Resumes a caller that waited: where nothing new may start, as a call under way, since it may have acted.
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
 * Makes the calls that are held up, oldest first, as far as there are slots; in a plan that is being ended
 * only those that settle something.
 */
export function callHeld(turn: Turn): void {
  const { state } = turn;
  if ((state.paused && !isEnding(state)) || state.heldCalls.length === 0) return;
  const { heldCalls } = state;
  for (let next = 0, caller = heldCalls[0]; caller; caller = heldCalls[next]) {
    // Thousands may be held. Nothing else of a plan that is being ended waits for them, and a call that ends
    // releases the next ones.
    if (isEnding(state) && state.running >= state.plan.policy.maxParallel) return;
    const isOpen =
      (!isEnding(state) || (mayHaveActed(caller) && canAskAgain(turn, caller))) &&
      caller.units.some(isUnderWay);
    const canGo = () => isDurable(caller) && hasPlace(state, caller) && hasInputs(turn, caller.step);
    if (isOpen && !canGo()) {
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
 * A call of it was sent, and another one continues that. An operator's "retry" of what honours keys leaves it
 * PENDING meanwhile.
 */
function isUnderWay({ status, mayHaveActed: acted, unacknowledged }: Unit): boolean {
  return (isStepActive(status) || (status === "PENDING" && acted)) && !unacknowledged;
}

/** Nothing that the call is about is on its way to the store, except for what has ended. */
function isDurable({ units }: Caller): boolean {
  return units.every(({ unacknowledged, status }) => !unacknowledged || isTerminalStepStatus(status));
}

function hasPlace({ running, barrierRunning, plan }: EngineState, { step }: Caller): boolean {
  const { tool, active, concurrency } = step;
  if (barrierRunning || running >= plan.policy.maxParallel) return false;
  if (tool.running >= tool.limit || active >= concurrency) return false;
  return running === 0 || !tool.contract.barrier;
}

/**
 * Asks for a caller's next call. False when its arguments do not allow one: the units are FAILED then; or
 * when it is to be made once its units are out of doubt.
 */
export function startCall(turn: Turn, caller: Caller): boolean {
  // Protocol invariant 3, whatever led here: a unit has at most one call under way, none once its end is
  // asked for, and none while it is in doubt, unless it goes out with others.
  if (caller.calling || !isDurable(caller)) return false;
  if (caller.units.every(({ status }) => isSettledStepStatus(status))) return false;
  if (askedAboutAll(turn, caller)) return false;
  const { prepared, refused } = prepareCall(turn.state, caller);
  const failed = refused.filter(({ unit }) => !hasEnded(unit) && unit.status !== "IN_DOUBT");
  for (const { unit, error } of failed) change(turn, unit, refusedAs(unit, caller, error));
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
  turn.commands.push({ type: "call", call: callOf(turn, caller, prepared.arguments) });
  return true;
}

/**
 * A batch that is sent again whole asks about those of its items as well that are in doubt. Their lifecycle
 * leads to the next call over PENDING, and that has to be durable first: the call is made by the answer to
 * these records. True when there were any.
 */
function askedAboutAll(turn: Turn, caller: Caller): boolean {
  if (caller.step.tool.refusal) return false; // nothing is sent, and they stay with the operator
  const doubted = unitsToSend(caller).filter(({ status }) => status === "IN_DOUBT");
  for (const unit of doubted) callOnceMore(turn, unit);
  return doubted.length > 0;
}

function hasEnded(unit: Unit): boolean {
  return unit.unacknowledged || isTerminalStepStatus(unit.status);
}

function callOf({ state, at }: Turn, caller: Caller, args: Call["arguments"]): Call {
  const { step, tool } = caller.step;
  const isLookup = asksLookup(caller);
  const graceMs = isEnding(state) ? (state.graceEndsAt ?? at) - at : Number.POSITIVE_INFINITY;
  const items = caller.prepared?.sent.flatMap(({ item }) => (item === undefined ? [] : [item])) ?? [];
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
    tool: tool.name,
    arguments: args,
    effectClass: tool.effectClass,
    mayAct: tool.contract.sideEffects && !isLookup,
    timeoutMs: Math.min(graceMs, timeoutMs),
  };
  if (items.length > 0) call.items = items;
  if (isLookup) call.verify = true;
  if (isEnding(state)) call.settles = true;
  if (caller.step.unit.approved || needsApproval(caller.step)) {
    const approvable = approvableOf(state, caller.step);
    call.approvable = approvable.ok ? approvable.value : {};
  }
  return call;
}
