import {
  argumentsOfStep,
  type HeldJson,
  isJsonObject,
  isTerminalStepStatus,
  type JsonObject,
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
} from "../schedule/after-failure.ts";
import { resumeCaller } from "../schedule/dispatch.ts";
import { ITEMS_FAILED_WARNING, readBatch } from "../schedule/envelope.ts";
import { release, stopList, waitUntil } from "../schedule/slots.ts";
import type { Caller, EngineState, StepNode, Unit } from "../state/engine-state.ts";
import {
  answerLost,
  askAgainOrDoubt,
  asksLookup,
  mayHaveActed,
  noteLostAnswer,
  refusedChange,
} from "../state/may-have-acted.ts";
import {
  ANSWER,
  type Answer,
  type BatchCall,
  type BatchResult,
  type EngineEvent,
  type Outcome,
  type Question,
  type ReadBatch,
  type StepError,
  type Unreachable,
} from "../state/protocol.ts";
import { change, type Turn, type UnitChange } from "../state/turn.ts";
import { isEnding, sentBy } from "../state/units.ts";
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

function changeAll(turn: Turn, caller: Caller, to: UnitChange): void {
  for (const unit of openUnits(caller)) change(turn, unit, to);
  if (to.status === "FAILED") stopList(turn.state, caller.step);
}

/** The tool has acted, whatever its answer looks like: what is odd about it is a warning. */
function complete(turn: Turn, caller: Caller, outcome: Completed): void {
  const { output, text, warnings = [] } = outcome;
  const { step } = caller;
  const sent = caller.prepared?.sent ?? [];
  // A large output was compared with its schema where it was read.
  const isLarge = output instanceof JsonText;
  const read = isLarge ? undefined : readDeclaredOutput(step.tool.descriptor?.outputSchema, output);
  const answer: Answered = read
    ? { output: read.output, text: read.output === output ? text : undefined }
    : { output, text };
  const call = batchCallOf(caller);
  const batch = batchIn(outcome, call, answer.output);
  const results = resultsOf(caller, answer, batch);
  const odd = [...warnings, ...(read?.warnings ?? []), ...oddBatch(caller, batch)];
  if (odd.length > 0)
    for (const unit of openUnits(caller)) unit.warnings = [...new Set([...unit.warnings, ...odd])].toSorted();
  if (!results) {
    const where = isLarge ? "it is too large to be kept" : "what it answered is in the data of this error";
    const message = `${step.tool.name} did not answer with one result for each of ${sent.length} items; ${where}`;
    const error = { code: "TOOL_RESULT_INVALID", message, retryable: false };
    changeAll(turn, caller, { status: "FAILED", error: { ...error, ...dataOf(answer) } });
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

/** What an answer says about its items, as another thread has read it, or read now. */
function batchIn(
  outcome: Pick<Completed, "batch"> | undefined,
  call: BatchCall | undefined,
  output: HeldJson,
): ReadBatch | undefined {
  if (outcome?.batch !== undefined) return outcome.batch ?? undefined;
  return call && readBatch(call, valueOfHeld(output));
}

type Answered = Pick<Completed, "output" | "text">;

/** The answer as data of an error, which has no large data. */
function dataOf({ output }: Answered, data: JsonObject = {}): Pick<StepError, "data"> {
  if (output instanceof JsonText) return Object.keys(data).length > 0 ? { data } : {};
  return { data: { ...data, answer: output } };
}

/** The call of a batch tool, for reading its answer; undefined for any other tool. */
function batchCallOf({ step, units, prepared }: Caller): BatchCall | undefined {
  const { contract, onlyReads } = step.tool;
  if (!contract.batch) return undefined;
  const count = step.forEach ? (prepared?.sent.length ?? 0) : undefined;
  // A list of one has the results in the same place, so the outputs of items do not depend on how many there are.
  const isList =
    step.forEach !== undefined && Object.hasOwn(argumentsOfStep(step.step), contract.batch.param);
  const isSplit = units.length > 1 || isList;
  return { stepId: step.step.id, batch: contract.batch, onlyReads, count, isSplit };
}

/**
 * What another thread has to read of a large answer of a batch tool before the end of its call is reported: see
 * {@link withAnswer}. Undefined for any other outcome.
 */
export function questionAbout(
  { calls, plan: { policy } }: EngineState,
  { key, attempt }: Pick<AttemptEnded, "key" | "attempt">,
  outcome: Outcome,
): Question | undefined {
  const caller = calls.get(key);
  const call = caller?.attempts === attempt ? batchCallOf(caller) : undefined;
  const answer = answerIn(outcome);
  if (!call || !(answer?.output instanceof JsonText)) return undefined;
  const { output } = answer;
  const isSplit = call.isSplit && answer === outcome;
  const asks = { type: "batch" as const, ...call, isSplit };
  return { bytes: output.sizeBytes, policy, outputs: [[ANSWER, output]], stored: [], texts: [], asks };
}

/** The outcome with the answer to the question about it. */
export function withAnswer(outcome: Outcome, said: Answer): Outcome {
  const answer = answerIn(outcome);
  if (!answer || said.type !== "batch") return outcome;
  const { read, warning } = said;
  const warnings = warning === undefined ? answer.warnings : [...(answer.warnings ?? []), warning];
  const told = { ...answer, warnings, batch: read && toReadBatch(read) };
  return outcome.type === "failed" ? { ...outcome, answer: told } : told;
}

function answerIn(outcome: Outcome): Completed | undefined {
  if (outcome.type === "failed") return outcome.answer;
  return outcome.type === "completed" ? outcome : undefined;
}

/** The output of an item is parsed only when it is written. */
function toReadBatch({
  texts,
  others,
  ...read
}: NonNullable<Extract<Answer, { type: "batch" }>["read"]>): ReadBatch {
  const results = texts.map((text): BatchResult => {
    const output = new JsonText(text ?? "null", Buffer.byteLength(text ?? "null"));
    return { status: "COMPLETED", output };
  });
  for (const [position, result] of others) results[position] = result;
  return { ...read, results };
}

/**
 * The result of each unit that was sent. A batch tool may answer with an envelope even to a call for one
 * item, and to a call of a step that is no list.
 */
function resultsOf(
  { step, units }: Caller,
  answer: Answered,
  batch: ReadBatch | undefined,
): readonly UnitChange[] | undefined {
  if (step.forEach && batch) return batch.results;
  if (units.length > 1) return undefined;
  const { output, text } = answer;
  return [resultOfBatch(step, answer, batch) ?? { status: "COMPLETED", output, outputText: text }];
}

/**
 * FAILED when items of a batch that was called directly failed, and the tool stops at failures or no item
 * succeeded; undefined otherwise.
 */
function resultOfBatch(
  step: StepNode,
  answer: Answered,
  batch: ReadBatch | undefined,
): UnitChange | undefined {
  const error = batch?.shortfall;
  if (!error) return undefined;
  if (batch.hasSuccess && step.tool.contract.errorPropagation === "partial-success") return undefined;
  const data = isJsonObject(error.data) ? error.data : {};
  return { status: "FAILED", error: { ...error, ...dataOf(answer, data) } };
}

/** Warnings about the items of a batch that was called directly. */
function oddBatch({ step, prepared }: Caller, batch: ReadBatch | undefined): string[] {
  const { batch: contract } = step.tool.contract;
  if (step.forEach || !contract || !batch) return [];
  const { count, shortfall } = batch;
  const items = prepared?.arguments[contract.param];
  const isComplete = !Array.isArray(items) || items.length === count;
  return [
    ...(shortfall ? [`${ITEMS_FAILED_WARNING}${shortfall.message}`] : []),
    ...(isComplete
      ? []
      : [
          `OUTPUT_UNEXPECTED: output: declared a result for each of ${items.length} items, returned ${count}`,
        ]),
  ];
}

/**
 * Completes a call whose tool reported an error beside a result for each item: the results say what acted.
 * False for any other failure.
 */
function completeByItems(turn: Turn, caller: Caller, { error, effect, answer }: Failed): boolean {
  const call = batchCallOf(caller);
  const { data } = error;
  if (effect !== "reported" || !call) return false;
  const output = answer?.output ?? data;
  if (output === undefined) return false;
  const batch = batchIn(answer, { ...call, isSplit: false }, output);
  if (!batch) return false;
  const warning = `${caller.step.tool.name} reported an error beside the results of its items: ${error.message}`;
  const warnings = [warning.slice(0, 500), ...(answer?.warnings ?? [])];
  complete(turn, caller, { type: "completed", output, warnings, batch });
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
    // It was reached: from the sign-in on, the time of a server that is away begins anew.
    if (waitReason === "sign-in") unit.unreachable = undefined;
  }
  if (waitReason === "sign-in") caller.unreachable = undefined;
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
    unit.outputBytes = outputBytes;
    const inRecord = { carriedFrom: { planId, key } };
    change(turn, unit, { status: "COMPLETED", inRecord, ...(output !== undefined && { output }) });
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
