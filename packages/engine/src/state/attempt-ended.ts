import { isTerminalStepStatus } from "@planwright/plan";
import { afterFailure } from "../failure/after-failure.ts";
import { afterUnreachable, isUnreachable } from "../failure/unreachable.ts";
import { concludeItems } from "../for-each/conclude.ts";
import { splitBatch, unwrapBatch } from "../for-each/split-batch.ts";
import { stopList } from "../for-each/stop-list.ts";
import type { EngineEvent, Outcome, StepError, Unreachable } from "../protocol.ts";
import { callAgain } from "../schedule/dispatch.ts";
import { offer, release, waitUntil } from "../schedule/places.ts";
import type { Caller, Unit } from "./engine-state.ts";
import { close, executorLost, stopReason } from "./stop.ts";
import { type Change, change, type Turn } from "./turn.ts";
import { isEnding } from "./units.ts";

type AttemptEnded = Extract<EngineEvent, { type: "attempt.ended" }>;
type Failed = Extract<Outcome, { type: "failed" }>;
type Completed = Extract<Outcome, { type: "completed" }>;

/** Takes the end of a call in. An answer to a call that is not under way (a duplicate, an older attempt) changes nothing. */
export function attemptEnded(turn: Turn, event: AttemptEnded): void {
  const caller = turn.state.calls.get(event.key);
  if (!caller || caller.attempts !== event.attempt) return;
  release(turn.state, caller);
  const wasVerification = caller.verify;
  caller.verify = false;
  const { outcome } = event;
  if (outcome.type === "completed" || outcome.type === "failed") seeReached(caller, outcome);
  switch (outcome.type) {
    case "completed":
      complete(turn, caller, outcome);
      break;
    case "aborted":
      changeAll(turn, caller, stopped(turn, caller));
      break;
    case "deferred":
      caller.verify = wasVerification;
      defer(turn, caller, outcome);
      break;
    case "failed":
      if (wasVerification) notVerified(turn, caller, outcome);
      else failed(turn, caller, outcome);
      break;
  }
  const { step } = caller;
  const isLastOfStep = step.active === 0 && step.callers.size === 0;
  if (isLastOfStep && step.dependents.length > 0) turn.isPatient = true;
  if (caller.step.forEach) concludeItems(turn, caller.step);
  else close(turn, caller.step);
}

/** The units that this call was to decide. */
function openUnits({ prepared, units }: Caller): Unit[] {
  return (prepared?.sent ?? units).filter(
    (unit) => !isTerminalStepStatus(unit.status) && !unit.unacknowledged,
  );
}

function changeAll(turn: Turn, caller: Caller, to: Change): void {
  for (const unit of openUnits(caller)) change(turn, unit, to);
  if (to.status === "FAILED") stopList(turn.state, caller.step);
}

function complete(turn: Turn, caller: Caller, { output, text }: Completed): void {
  const sent = caller.prepared?.sent ?? [];
  const results = resultsOf(caller, { output, text }, sent.length);
  if (!results) {
    const message = `${caller.step.tool.name} did not answer with one result for each of ${sent.length} items`;
    changeAll(turn, caller, {
      status: "FAILED",
      error: { code: "TOOL_RESULT_INVALID", message, retryable: false },
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

/** What became of each unit that was sent. A batch tool may answer with the envelope also where it was called for one item. */
function resultsOf(
  { step, units }: Caller,
  { output, text }: Pick<Completed, "output" | "text">,
  count: number,
): Change[] | undefined {
  if (units.length > 1) return splitBatch(step, output, count);
  const unwrapped = step.forEach ? unwrapBatch(step, output, 1) : undefined;
  return unwrapped ?? [{ status: "COMPLETED", output, outputText: text }];
}

/** Counts as no attempt: the call was never made. */
function defer(turn: Turn, caller: Caller, outcome: Extract<Outcome, { type: "deferred" }>): void {
  caller.attempts--;
  for (const unit of openUnits(caller)) {
    unit.attempts = caller.attempts;
    if (!caller.verify) unit.status = caller.attempts > 0 ? "RETRYING" : "PENDING";
  }
  if (turn.state.stopping) return;
  if (outcome.untilAt <= turn.at) offer(turn.state, caller);
  else waitUntil(turn.state, caller, { until: outcome.untilAt, reason: outcome.waitReason });
}

function failed(turn: Turn, caller: Caller, outcome: Failed): void {
  const { error } = outcome;
  if (isEnding(turn.state)) {
    changeAll(turn, caller, stoppedBy(turn, caller, outcome));
    return;
  }
  if (isUnreachable(outcome)) {
    unreachable(turn, caller, error);
    return;
  }
  if (outcome.effect === "unknown") caller.mayHaveActed = true;
  const next = afterFailure(caller, outcome, turn.random);
  switch (next.type) {
    case "fail":
      changeAll(turn, caller, { status: "FAILED", error });
      return;
    case "doubt":
      changeAll(turn, caller, { status: "IN_DOUBT", error });
      return;
    case "verify":
      caller.verify = true;
      callAgain(turn, caller);
      return;
    case "retry":
      if (turn.state.stopping || turn.state.failing) changeAll(turn, caller, { status: "FAILED", error });
      else changeAll(turn, caller, { status: "RETRYING", error, nextAttemptAt: turn.at + next.delayMs });
      return;
  }
}

/** Nothing was sent: tried again until the plan gives up, as one attempt with the tries before it. */
function unreachable(turn: Turn, caller: Caller, error: StepError): void {
  const { stopping, failing, plan } = turn.state;
  const { at, random } = turn;
  const { unreachableMs } = plan.policy;
  const { seen, nextAttemptAt } = afterUnreachable(caller, { at, random, unreachableMs });
  if (caller.unreachable) caller.attempts--;
  else caller.unsent++;
  caller.unreachable = seen;
  const { attempts, unsent } = caller;
  for (const unit of openUnits(caller)) Object.assign(unit, { attempts, unsent, unreachable: seen });
  if (nextAttemptAt === undefined || stopping !== undefined || failing) {
    changeAll(turn, caller, { status: "FAILED", error: seen.tries > 1 ? triedLong(error, seen) : error });
  } else changeAll(turn, caller, { status: "RETRYING", error, nextAttemptAt });
}

function triedLong(error: StepError, { since, tries }: Unreachable): StepError {
  const message = `${error.message} (tried ${tries} times since ${new Date(since).toISOString()})`;
  return { ...error, message };
}

/** An answer of any kind, or a call that was sent, ends what was seen of a server that could not be reached. */
function seeReached(caller: Caller, outcome: Outcome): void {
  if (isUnreachable(outcome)) return;
  caller.unreachable = undefined;
  for (const unit of openUnits(caller)) unit.unreachable = undefined;
}

/** A failure in a plan that is being ended: what is known of the effect decides. */
function stoppedBy(turn: Turn, caller: Caller, outcome: Failed): Change {
  const { error } = outcome;
  if (outcome.effect === "reported") return { status: "FAILED", error };
  const mayHaveActed = outcome.effect === "unknown" && caller.step.tool.contract.sideEffects;
  return mayHaveActed ? { status: "IN_DOUBT", error } : stopped(turn, caller);
}

/** This attempt did nothing; an earlier one whose answer was lost leaves the unit in doubt. */
function stopped(turn: Turn, caller: Caller): Change {
  const [unit] = caller.units;
  const isInDoubt = caller.mayHaveActed && caller.step.tool.contract.sideEffects && unit;
  return isInDoubt
    ? { status: "IN_DOUBT", error: executorLost(unit) }
    : { status: "CANCELLED", error: stopReason(turn.state) };
}

/** The lookup tool said that the call never happened (`none`), or could not say. */
function notVerified(turn: Turn, caller: Caller, outcome: Failed): void {
  const { error } = outcome;
  if (outcome.effect === "none") caller.mayHaveActed = false;
  if (outcome.effect !== "none") changeAll(turn, caller, { status: "IN_DOUBT", error });
  else if (isEnding(turn.state))
    changeAll(turn, caller, { status: "CANCELLED", error: stopReason(turn.state) });
  else if (sentBy(caller) < maxAttemptsOf(caller) * 2) callAgain(turn, caller);
  else changeAll(turn, caller, { status: "FAILED", error: neverHappened(caller, error) });
}

function maxAttemptsOf(caller: Caller): number {
  return (caller.step.step.retry ?? caller.step.tool.contract.backoff).maxAttempts;
}

function sentBy({ attempts, unsent }: Caller): number {
  return attempts - unsent;
}

function neverHappened(caller: Caller, error: StepError): StepError {
  const message = `${caller.key} was sent ${sentBy(caller) / 2} times and never happened: ${error.message}`;
  return { code: "TOOL_CONNECTION_LOST", message, retryable: true };
}
