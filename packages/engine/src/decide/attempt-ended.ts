import {
  type HeldJson,
  isJsonObject,
  isTerminalStepStatus,
  JsonText,
  readDeclaredOutput,
  valueOfHeld,
} from "@planwright/plan";
import {
  afterFailure,
  afterUnreachable,
  isAnswerToKey,
  isUnansweredLookup,
  isUnreachable,
  sentBy,
} from "../schedule/after-failure.ts";
import { resumeCaller } from "../schedule/dispatch.ts";
import { ITEMS_FAILED_WARNING, shortfallOf } from "../schedule/envelope.ts";
import { release, stopList, waitUntil } from "../schedule/slots.ts";
import { splitBatch, unwrapBatch } from "../schedule/split-batch.ts";
import type { Caller, StepNode, Unit } from "../state/engine-state.ts";
import {
  answerLost,
  askAgainOrDoubt,
  asksLookup,
  mayHaveActed,
  noteLostAnswer,
  refusedChange,
} from "../state/may-have-acted.ts";
import type { EngineEvent, Outcome, StepError, Unreachable } from "../state/protocol.ts";
import { type Change, change, type Turn } from "../state/turn.ts";
import { isEnding } from "../state/units.ts";
import { concludeItems } from "./settle.ts";
import { close, stopReason } from "./stop.ts";

type AttemptEnded = Extract<EngineEvent, { type: "attempt.ended" }>;
type Failed = Extract<Outcome, { type: "failed" }>;
type Completed = Extract<Outcome, { type: "completed" }>;

/**
 * Applies the end of a call. An answer to a call that is not running (a duplicate, an older attempt) changes
 * nothing.
 */
export function attemptEnded(turn: Turn, event: AttemptEnded): void {
  const caller = turn.state.calls.get(event.key);
  if (!caller || caller.attempts !== event.attempt) return;
  release(turn.state, caller);
  // Without a unit nothing was called.
  if (caller.prepared?.sent.length === 0) caller.attempts--;
  else applyOutcome(turn, caller, event.outcome);
  // Another attempt resolves the arguments again, so that a waiting caller keeps no outputs in memory.
  if (!caller.calling && caller.step.reads.length > 0) caller.prepared = undefined;
  const { step } = caller;
  const isLastOfStep = step.active === 0 && step.callers.size === 0;
  if (isLastOfStep && step.dependents.length > 0) turn.holdsSlots = true;
  if (caller.step.forEach) concludeItems(turn, caller.step);
  else close(turn, caller.step);
}

/** The units whose arguments are invalid are not part of the running call. */
export function refuse(turn: Turn, event: Extract<EngineEvent, { type: "refused" }>): void {
  const caller = turn.state.calls.get(event.key);
  if (!caller?.prepared || caller.attempts !== event.attempt) return;
  for (const unit of openUnits(caller)) {
    const error = event.units.get(unit.key);
    if (!error) continue;
    unit.attempts = caller.attempts - 1;
    change(turn, unit, refusedChange(unit, caller, error));
  }
  const sent = caller.prepared.sent.filter(({ key }) => !event.units.has(key));
  caller.prepared = { ...caller.prepared, sent };
  stopList(turn.state, caller.step);
}

function applyOutcome(turn: Turn, caller: Caller, outcome: Outcome): void {
  const wasLookup = asksLookup(caller);
  if (outcome.type === "completed" || outcome.type === "failed") noteReached(caller, outcome, wasLookup);
  switch (outcome.type) {
    case "completed":
      complete(turn, caller, outcome);
      break;
    case "aborted":
      settleStopped(turn, caller, answerLost(caller, stopReason(turn.state)));
      break;
    case "deferred":
      defer(turn, caller, outcome);
      break;
    case "carried":
      carry(turn, caller, outcome);
      break;
    case "failed":
      if (wasLookup) applyLookup(turn, caller, outcome);
      else if (!completeByItems(turn, caller, outcome)) failed(turn, caller, outcome);
      break;
  }
}

/** The units whose result this call decides. */
function openUnits({ prepared, units }: Caller): Unit[] {
  return (prepared?.sent ?? units).filter(
    (unit) => !isTerminalStepStatus(unit.status) && !unit.unacknowledged,
  );
}

function changeAll(turn: Turn, caller: Caller, to: Change): void {
  for (const unit of openUnits(caller)) change(turn, unit, to);
  if (to.status === "FAILED") stopList(turn.state, caller.step);
}

/** The tool has acted, whatever its answer looks like: what is odd about it is a warning. */
function complete(turn: Turn, caller: Caller, { output, text, warnings = [] }: Completed): void {
  const { step } = caller;
  const sent = caller.prepared?.sent ?? [];
  // A large output was compared with its schema where it was read.
  const isLarge = output instanceof JsonText;
  const read = isLarge ? undefined : readDeclaredOutput(step.tool.descriptor?.outputSchema, output);
  const answer: Answer = read
    ? { output: read.output, text: read.output === output ? text : undefined }
    : { output, text };
  const results = resultsOf(caller, answer, sent.length);
  const odd = [
    ...warnings,
    ...(read?.warnings ?? []),
    ...(step.forEach ? [] : oddBatch(caller, answer.output)),
  ];
  if (odd.length > 0)
    for (const unit of openUnits(caller)) unit.warnings = [...new Set([...unit.warnings, ...odd])].toSorted();
  if (!results) {
    const message = `${step.tool.name} did not answer with one result for each of ${sent.length} items; what it answered is in the data of this error`;
    changeAll(turn, caller, {
      status: "FAILED",
      error: {
        code: "TOOL_RESULT_INVALID",
        message,
        retryable: false,
        data: { answer: valueOfHeld(answer.output) },
      },
    });
    return;
  }
  const open = new Set(openUnits(caller));
  for (const [position, unit] of sent.entries()) {
    const result = results[position];
    if (!result || !open.has(unit)) continue;
    change(turn, unit, result);
    if (result.status === "FAILED") stopList(turn.state, caller.step);
  }
}

type Answer = Pick<Completed, "output" | "text">;

/**
 * The result of each unit that was sent. A batch tool may answer with an envelope even to a call for one
 * item, and to a call of a step that is no list.
 */
function resultsOf({ step, units }: Caller, answer: Answer, count: number): Change[] | undefined {
  const { output, text } = answer;
  if (units.length > 1) return splitBatch(step, valueOfHeld(output), count);
  const isBatch = step.forEach !== undefined && step.tool.contract.batch !== undefined;
  const unwrapped = isBatch ? unwrapBatch(step, valueOfHeld(output), 1) : undefined;
  return unwrapped ?? [resultOfBatch(step, answer) ?? { status: "COMPLETED", output, outputText: text }];
}

/**
 * FAILED when items of a batch that was called directly failed, and the tool stops at failures or no item
 * succeeded; undefined otherwise.
 */
function resultOfBatch(step: StepNode, { output }: Answer): Change | undefined {
  const error = step.forEach ? undefined : shortfallOf(step, output);
  if (!error) return undefined;
  const value = valueOfHeld(output);
  const hasSuccess = unwrapBatch(step, value)?.some(({ status }) => status === "COMPLETED");
  if (hasSuccess && step.tool.contract.errorPropagation === "partial-success") return undefined;
  const data = isJsonObject(error.data) ? { ...error.data, answer: value } : { answer: value };
  return { status: "FAILED", error: { ...error, data } };
}

/** Warnings about the items of a batch that was called directly. */
function oddBatch({ step, prepared }: Caller, output: HeldJson): string[] {
  const { batch } = step.tool.contract;
  const results = batch && unwrapBatch(step, valueOfHeld(output));
  if (!results) return [];
  const error = shortfallOf(step, output);
  const items = prepared?.arguments[batch.param];
  const isComplete = !Array.isArray(items) || items.length === results.length;
  return [
    ...(error ? [`${ITEMS_FAILED_WARNING}${error.message}`] : []),
    ...(isComplete
      ? []
      : [
          `OUTPUT_UNEXPECTED: output: declared a result for each of ${items.length} items, returned ${results.length}`,
        ]),
  ];
}

/**
 * Completes a call whose tool reported an error beside a result for each item: the results say what acted.
 * False for any other failure.
 */
function completeByItems(turn: Turn, caller: Caller, { error, effect }: Failed): boolean {
  const { step, units, prepared } = caller;
  const count = units.length > 1 || step.forEach ? prepared?.sent.length : undefined;
  if (effect !== "reported" || error.data === undefined) return false;
  if (!unwrapBatch(step, error.data, count)) return false;
  const warning = `${step.tool.name} reported an error beside the results of its items: ${error.message}`;
  complete(turn, caller, { type: "completed", output: error.data, warnings: [warning.slice(0, 500)] });
  return true;
}

/** The call was not made, so it does not count as an attempt. */
function defer(
  turn: Turn,
  caller: Caller,
  { untilAt, waitReason }: Extract<Outcome, { type: "deferred" }>,
): void {
  const { state } = turn;
  caller.attempts--;
  for (const unit of openUnits(caller)) {
    unit.attempts = caller.attempts;
    unit.status = caller.attempts > 0 ? "RETRYING" : "PENDING";
    // A call of an earlier version of the plan counts only once this version makes a call.
    if (caller.attempts === 0) unit.mayHaveActed = false;
  }
  if (state.stopping && !mayHaveActed(caller)) return;
  if (isEnding(state) && untilAt >= (state.graceEndsAt ?? 0))
    settleStopped(turn, caller, answerLost(caller, stopReason(state)));
  else if (untilAt > turn.at) waitUntil(state, caller, { until: untilAt, reason: waitReason });
  else resumeCaller(turn, caller);
}

/** Completes the units whose call an earlier version has made; the others are called next. */
function carry(turn: Turn, caller: Caller, { units }: Extract<Outcome, { type: "carried" }>): void {
  caller.attempts--;
  for (const unit of openUnits(caller)) {
    unit.attempts = caller.attempts;
    unit.status = "PENDING";
    unit.mayHaveActed = false;
    const earlier = units.get(unit.key);
    if (!earlier) continue;
    const { planId, key, output, outputBytes } = earlier;
    unit.isCarried = true;
    unit.carriedFrom = { planId, key };
    unit.outputBytes = outputBytes;
    change(turn, unit, { status: "COMPLETED", ...(output !== undefined && { output }) });
  }
  caller.prepared = undefined;
  // While records are being stored, their acknowledgement makes the caller ready again.
  if (units.size === 0) resumeCaller(turn, caller);
}

function failed(turn: Turn, caller: Caller, outcome: Failed): void {
  const { error } = outcome;
  const { state } = turn;
  const sent = openUnits(caller);
  if (outcome.effect === "unknown") noteLostAnswer(sent);
  if (isEnding(state)) {
    if (outcome.effect === "reported" && (!mayHaveActed(caller) || isAnswerToKey(caller, error)))
      changeAll(turn, caller, { status: "FAILED", error: withLostAnswer(caller, error) });
    else settleStopped(turn, caller, outcome.effect === "unknown" ? error : answerLost(caller, error));
    return;
  }
  if (isUnreachable(outcome)) {
    const { unreachableMs } = state.plan.policy;
    retryUnreachable(turn, caller, outcome, state.stopping || state.failing ? 0 : unreachableMs);
    return;
  }
  const next = afterFailure(caller, outcome, turn.random);
  switch (next.type) {
    case "fail":
      changeAll(turn, caller, { status: "FAILED", error: withLostAnswer(caller, error) });
      return;
    case "doubt":
      doubt(turn, caller, outcome);
      return;
    case "look up":
      changeAll(turn, caller, { status: "RETRYING", error, nextAttemptAt: turn.at });
      return;
    case "retry":
      // After another failure nothing new starts; repeating a call that may have acted is not new.
      if ((state.stopping || state.failing) && !mayHaveActed(caller))
        changeAll(turn, caller, { status: "FAILED", error });
      else changeAll(turn, caller, { status: "RETRYING", error, nextAttemptAt: turn.at + next.delayMs });
      return;
  }
}

/** Ends with an unknown result: no further call is made. */
function doubt(turn: Turn, caller: Caller, { effect, error }: Failed): void {
  changeAll(turn, caller, {
    status: "IN_DOUBT",
    error: effect === "unknown" ? error : answerLost(caller, error),
  });
}

/**
 * The error, with a note when the answer to an earlier call was lost. An answer to the key also answers the
 * earlier calls.
 */
function withLostAnswer(caller: Caller, error: StepError): StepError {
  if (!mayHaveActed(caller)) return error;
  return {
    ...error,
    message: `${error.message} (the answer to an earlier call was lost; this one is to the same key)`,
  };
}

/**
 * Nothing was sent, or the look-up gave no answer. Tries again until `giveUpAfterMs` have passed; consecutive
 * tries count as one attempt.
 */
function retryUnreachable(turn: Turn, caller: Caller, outcome: Failed, giveUpAfterMs: number): void {
  const { at, random } = turn;
  const { error, retryAfterMs = 0 } = outcome;
  const mayAct = mayHaveActed(caller);
  const unreachableMs = mayAct
    ? Math.max(giveUpAfterMs, turn.state.plan.policy.unreachableMs)
    : giveUpAfterMs;
  const { seen, nextAttemptAt } = afterUnreachable(caller, { at, random, unreachableMs });
  if (caller.unreachable) caller.attempts--;
  else caller.unsent++;
  caller.unreachable = seen;
  const { attempts, unsent } = caller;
  for (const unit of openUnits(caller)) Object.assign(unit, { attempts, unsent, unreachable: seen });
  if (nextAttemptAt !== undefined) {
    const next = Math.max(nextAttemptAt, at + retryAfterMs);
    changeAll(turn, caller, { status: "RETRYING", error, nextAttemptAt: next });
    return;
  }
  const lastError = seen.tries > 1 ? withTries(error, seen) : error;
  if (mayAct) doubt(turn, caller, { ...outcome, error: lastError });
  else changeAll(turn, caller, { status: "FAILED", error: lastError });
}

function withTries(error: StepError, { since, tries }: Unreachable): StepError {
  const message = `${error.message} (tried ${tries} times since ${new Date(since).toISOString()})`;
  return { ...error, message };
}

/**
 * Notes that the server was reached: any answer, or a call that was sent, shows that. A look-up without an
 * answer does not. An answered look-up is no attempt to send the call.
 */
function noteReached(caller: Caller, outcome: Outcome, wasLookup: boolean): void {
  if (isUnreachable(outcome) || isUnansweredLookup({ verify: wasLookup }, outcome)) return;
  caller.unreachable = undefined;
  if (wasLookup) caller.unsent++;
  const { unsent } = caller;
  for (const unit of openUnits(caller)) Object.assign(unit, { unsent, unreachable: undefined });
}

/**
 * The call did nothing and its plan is being ended. The result of an earlier call is requested again while
 * there is time; other units are CANCELLED.
 */
function settleStopped(turn: Turn, caller: Caller, error: StepError): void {
  for (const unit of openUnits(caller)) {
    const cancelled = { status: "CANCELLED", error: stopReason(turn.state) } as const;
    change(turn, unit, unit.mayHaveActed ? askAgainOrDoubt(turn, caller, error) : cancelled);
  }
}

/**
 * Applies a failed look-up: the call never happened (`none`), the lookup tool does not know, or it gave no
 * answer.
 */
function applyLookup(turn: Turn, caller: Caller, outcome: Failed): void {
  const { error } = outcome;
  if (isUnansweredLookup({ verify: true }, outcome)) {
    if (isEnding(turn.state)) settleStopped(turn, caller, error);
    else retryUnreachable(turn, caller, outcome, Number.POSITIVE_INFINITY);
    return;
  }
  if (outcome.effect !== "none") {
    changeAll(turn, caller, { status: "IN_DOUBT", error });
    return;
  }
  for (const unit of openUnits(caller)) unit.mayHaveActed = false;
  if (isEnding(turn.state)) changeAll(turn, caller, { status: "CANCELLED", error: stopReason(turn.state) });
  else if (turn.state.stopping || sentBy(caller) >= maxAttemptsOf(caller))
    changeAll(turn, caller, { status: "FAILED", error: neverHappened(caller, error) });
  else changeAll(turn, caller, { status: "RETRYING", error, nextAttemptAt: turn.at });
}

function maxAttemptsOf(caller: Caller): number {
  return (caller.step.step.retry ?? caller.step.tool.contract.backoff).maxAttempts;
}

function neverHappened(caller: Caller, error: StepError): StepError {
  const times = sentBy(caller) === 1 ? "once" : `${sentBy(caller)} times`;
  const message = `${caller.key} was sent ${times} and never happened: ${error.message}`;
  return { code: "TOOL_CONNECTION_LOST", message, retryable: true };
}
