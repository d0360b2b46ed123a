import type { Caller, EngineState, StepNode } from "../state/engine-state.ts";
import { failureModeOf, type Turn } from "../state/turn.ts";

/** Longest remaining path first, then plan order. */
export function precedes(a: StepNode, b: StepNode): boolean {
  return a.rank > b.rank || (a.rank === b.rank && a.index < b.index);
}

/** Makes a step ready when one of its callers may make a call. */
export function enqueue(state: EngineState, node: StepNode): void {
  const isStopped = node.forEach?.stopped === true;
  if (node.waitsIn !== "nowhere" || node.final || isStopped) return;
  if (node.callers.size === 0 || node.active >= node.concurrency) return;
  node.waitsIn = "ready";
  state.ready.push(node);
}

/** Makes a caller and its step ready. May be called for each of its units; the caller is offered once. */
export function offer(state: EngineState, caller: Caller): void {
  caller.waiting = undefined;
  if (!caller.offered) caller.step.callers.push(caller);
  caller.offered = true;
  enqueue(state, caller.step);
}

/** Removes and returns the first of a step's callers that may make a call now. */
export function takeOffered({ callers }: StepNode): Caller | undefined {
  const caller = callers.pop();
  if (caller) caller.offered = false;
  return caller;
}

/** Lets a caller wait for a time. */
export function waitUntil(state: EngineState, caller: Caller, waiting: NonNullable<Caller["waiting"]>): void {
  caller.waiting = waiting;
  state.waits.push({ at: waiting.until, order: state.waitCounter++, caller });
}

/** Removes and returns the callers whose time has come, and asks for a timer for the next one. */
export function takeDue(turn: Turn): Caller[] {
  const { state } = turn;
  const due: Caller[] = [];
  if (state.timerAt !== undefined && state.timerAt <= turn.at) state.timerAt = undefined;
  for (let next = state.waits.peek(); next; next = state.waits.peek()) {
    const { caller, at } = next;
    const isStale = caller.waiting?.until !== at;
    if (!isStale && at > turn.at) break;
    state.waits.pop();
    if (isStale) continue;
    caller.waiting = undefined;
    due.push(caller);
  }
  const next = state.waits.peek();
  if (next && (state.timerAt === undefined || next.at < state.timerAt)) askForTimer(turn, next.at);
  return due;
}

/** Asks for a timer; an earlier one still comes. */
export function askForTimer({ state, commands }: Turn, at: number): void {
  state.timerAt = at;
  commands.push({ type: "timer", at });
}

/** Occupies a slot for a call. */
export function occupy(state: EngineState, caller: Caller): void {
  caller.calling = true;
  state.calls.set(caller.key, caller);
  state.running++;
  caller.step.tool.running++;
  caller.step.active++;
  if (caller.step.tool.contract.barrier) state.barrierRunning = true;
}

/** Frees the slot of a call that has ended, and makes steps ready that waited for it. */
export function release(state: EngineState, caller: Caller): void {
  const { step } = caller;
  caller.calling = false;
  state.calls.delete(caller.key);
  state.running--;
  step.tool.running--;
  step.active--;
  if (step.tool.contract.barrier) state.barrierRunning = false;
  wakeTool(state, step);
  wakeBarrier(state);
  enqueue(state, step);
}

/** Makes the first step that waits for this tool ready, if the tool has a free slot. */
export function wakeTool(state: EngineState, node: StepNode): void {
  const { tool } = node;
  if (tool.running >= tool.limit) return;
  makeReady(state, tool.blocked.pop());
}

/** Makes the first waiting barrier ready when nothing is running. True when there was one. */
export function wakeBarrier(state: EngineState): boolean {
  return !isBusy(state) && makeReady(state, state.readyBarriers.pop());
}

/**
 * Makes the first step that breaks a cycle ready when nothing is running; called when nothing else can run.
 * True when there was one.
 */
export function wakeOpener(state: EngineState): boolean {
  if (isBusy(state)) return false;
  const opener = state.openers.pop();
  if (opener) opener.opens = undefined;
  return makeReady(state, opener);
}

/**
 * True while a call runs or waits for outputs, or a record is not durable yet: then steps before a barrier
 * may still become ready.
 */
export function isBusy({ running, unacknowledged, loading }: EngineState): boolean {
  return running > 0 || unacknowledged > 0 || loading.size > 0;
}

/** Fewest ignored dependencies first, then plan order. */
export function opensBefore(a: StepNode, b: StepNode): boolean {
  const difference = (a.opens ?? 0) - (b.opens ?? 0);
  return difference < 0 || (difference === 0 && a.index < b.index);
}

function makeReady(state: EngineState, node: StepNode | undefined): boolean {
  if (!node) return false;
  node.waitsIn = "ready";
  state.ready.push(node);
  return true;
}

/**
 * Stops a list after a failed item, if the list stops at failures: no further item starts. Its step fails as
 * soon as running items have ended, so in a fail-fast plan nothing else starts either.
 */
export function stopList(state: EngineState, node: StepNode): void {
  const { forEach } = node;
  if (!forEach?.stopsAtFailure) return;
  forEach.stopped = true;
  if (failureModeOf(state, node) === "fail-fast") state.failing = true;
}
