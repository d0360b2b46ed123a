import type { StepRun } from "@planwright/engine";
import { isForEachStep, isTerminalStepStatus } from "@planwright/plan";
import { EPOCH_MS } from "../world/simulated-process.ts";
import { stopsAtFailure } from "./check-lists.ts";
import { MAX_CLAIMS_WITHOUT_PROGRESS } from "./check-plans.ts";
import type { Fail } from "./invariants.ts";
import type { PlanFacts, StepFacts } from "./plan-facts.ts";

const APPLIED_WITHIN_MS = 1_000;
/** The grace period of a plan that is ending, plus the time of a connection, in milliseconds. */
const RESOLVED_WITHIN_MS = 7_000;

/** A call that starts now. */
export interface StartingCall {
  facts: PlanFacts;
  step: StepFacts;
  /** Keys of the units of the call. */
  keys: readonly string[];
  /** True for a call of the lookup tool. */
  isLookup: boolean;
  /** The caller, and the epoch of its claim; undefined when it has none. */
  owner: string;
  epoch: number | undefined;
  /** When the connection was begun, in simulated milliseconds. */
  begunAt: number;
  now: number;
  calmSince: number;
}

/** Checks that a call may start. Arguments, key and limits are checked elsewhere. */
export function checkCallStart(call: StartingCall, fail: Fail): void {
  checkLease(call, fail);
  checkControls(call, fail);
  checkDependencies(call, fail);
  checkBarriers(call, fail);
  checkApproval(call, fail);
  checkUnits(call, fail);
  checkStopped(call, fail);
  const { facts } = call;
  if (facts.claimsWithoutAnyProgress > MAX_CLAIMS_WITHOUT_PROGRESS) {
    fail("poison-ends", `${nameOf(call)} at claim ${facts.claimsWithoutAnyProgress} without progress`);
  }
}

/**
 * Fails when the first call of items of a list that stops at failures starts too late after another item
 * failed.
 */
function checkStopped(call: StartingCall, fail: Fail): void {
  const { facts, step, keys, begunAt, calmSince } = call;
  if (!stopsAtFailure(step) || call.isLookup || !keys.every((key) => isFirst(facts.units.get(key), call)))
    return;
  for (const unit of facts.units.values()) {
    if (unit.stepId !== step.step.id || unit.item === null || unit.status !== "FAILED" || !unit.finishedAt)
      continue;
    const failedAt = unit.finishedAt.getTime() - EPOCH_MS;
    const isLate =
      facts.claimedAt > failedAt || (calmSince <= failedAt && begunAt - failedAt > APPLIED_WITHIN_MS);
    if (isLate) fail("lists-stop", `${nameOf(call)} ${begunAt - failedAt} ms after ${unit.key} failed`);
  }
}

/** True when no call of the unit began before this one. */
function isFirst(unit: StepRun | undefined, { step, owner, epoch, facts }: StartingCall): boolean {
  if (!unit) return false;
  if (step.tool.effectClass === "R") return unit.attempts.length === 0;
  const isOfThisClaim = facts.epochs.get(unit.key) === epoch;
  return unit.attempts.length === 1 && unit.attempts[0]?.executor === owner && isOfThisClaim;
}

function nameOf({ facts, keys, owner }: StartingCall): string {
  return `${owner} calls for ${facts.name}/${keys.join(",")}`;
}

function checkLease(call: StartingCall, fail: Fail): void {
  const { lease, dueAt } = call.facts.document;
  const thisCall = `${nameOf(call)} under epoch ${call.epoch ?? "none"}`;
  if (!lease) fail("call-within-lease", `${thisCall} while no executor holds the plan`);
  else if (lease.epoch !== call.epoch)
    fail("call-within-lease", `${thisCall} while ${lease.epoch} holds the plan`);
  else if (dueAt)
    fail(
      "call-within-lease",
      `${thisCall}, which any executor may take since ${dueAt.getTime() - EPOCH_MS} ms`,
    );
}

function checkControls(call: StartingCall, fail: Fail): void {
  const { facts, now, calmSince } = call;
  const { cancelAskedAt, pauseAskedAt, claimedAt } = facts;
  const deadlineAt = facts.document.deadlineAt && facts.document.deadlineAt.getTime() - EPOCH_MS;
  const isLate = (askedAt: number): boolean => calmSince <= askedAt && now - askedAt > APPLIED_WITHIN_MS;
  const endedAt = [deadlineAt, cancelAskedAt].filter((at) => at !== null && at <= now);
  if (endedAt.length > 0 && resolvesEarlierCall(call)) {
    const begunAt = Math.max(claimedAt, ...endedAt.flatMap((at) => at ?? []));
    if (calmSince > begunAt || now - begunAt <= APPLIED_WITHIN_MS + RESOLVED_WITHIN_MS) return;
  }
  if (deadlineAt !== null && now > deadlineAt + APPLIED_WITHIN_MS) {
    fail("deadline-stops", `${nameOf(call)} ${now - deadlineAt} ms after the deadline`);
  }
  if (cancelAskedAt !== null && (claimedAt > cancelAskedAt || isLate(cancelAskedAt))) {
    fail("cancel-stops", `${nameOf(call)} ${now - cancelAskedAt} ms after the cancel`);
  }
  // Calls in progress continue; this includes their connections and lookups.
  const isNew = !call.isLookup && pauseAskedAt !== null && call.begunAt - pauseAskedAt > APPLIED_WITHIN_MS;
  if (pauseAskedAt !== null && claimedAt <= pauseAskedAt && isLate(pauseAskedAt) && isNew) {
    fail("pause-stops", `${nameOf(call)} ${now - pauseAskedAt} ms after the pause`);
  }
}

/** True for a lookup, or a call of units that were called before and may have acted. */
function resolvesEarlierCall({ facts, step, keys, isLookup }: StartingCall): boolean {
  if (isLookup || step.tool.effectClass === "U") return isLookup;
  return keys.some((key) => facts.units.get(key)?.attempts.slice(0, -1).some(mayHaveActed));
}

function mayHaveActed({ outcome }: StepRun["attempts"][number]): boolean {
  return outcome !== "completed" && outcome !== "failed";
}

/**
 * A read may depend on a read whose answer its executor has and whose result is still being written to the
 * journal. A crash repeats both, and neither has effects. A call that may have effects needs durable results
 * of its dependencies.
 */
function mayRunEarly({ facts, step, owner, epoch }: StartingCall, id: string): boolean {
  const before = facts.steps.get(id);
  if (!before || !isRead(step) || !isRead(before)) return false;
  // The items of a list have their onError keys.
  return isForEachStep(before.step) || facts.answered.has(nameOfAnswer(owner, epoch, id));
}

/** True when its calls may be repeated and have no effects. */
export function isRead({ tool }: StepFacts): boolean {
  return tool.effectClass === "R" && !tool.hasSideEffects;
}

/** A name for the answer to a call of an executor under a claim. */
export function nameOfAnswer(owner: string, epoch: number | undefined, key: string): string {
  return `${owner} ${epoch ?? 0} ${key}`;
}

function checkDependencies(call: StartingCall, fail: Fail): void {
  const { facts, step } = call;
  for (const id of step.dependencies) {
    if (mayRunEarly(call, id)) continue;
    const unit = facts.units.get(id);
    if (unit && isTerminalStepStatus(unit.status)) {
      if (unit.status === "COMPLETED" || unit.error?.code === "CONDITION_FALSE") continue;
      if (mayFail(facts, id)) continue;
    }
    fail(
      "dependency-first",
      `${nameOf(call)} while ${id}, which it depends on, is ${unit?.status ?? "unknown"}`,
    );
  }
}

/** A barrier blocks the steps after it until it has ended, in any way. */
function checkBarriers(call: StartingCall, fail: Fail): void {
  for (const id of call.step.barriersBefore) {
    if (mayRunEarly(call, id)) continue;
    const unit = call.facts.units.get(id);
    if (unit && isTerminalStepStatus(unit.status)) continue;
    fail(
      "barrier-first",
      `${nameOf(call)} while ${id}, a barrier before it, is ${unit?.status ?? "unknown"}`,
    );
  }
}

function checkApproval(call: StartingCall, fail: Fail): void {
  const { facts, step } = call;
  if (step.step.approval !== true && !step.tool.needsApproval) return;
  if (facts.approvals.some(({ stepId, approved }) => stepId === step.step.id && approved)) return;
  fail("approval-first", `${nameOf(call)}, which no operator approved`);
}

/** True when the plan lets dependents of this step run after it failed. */
function mayFail(facts: PlanFacts, id: string): boolean {
  const onError = facts.steps.get(id)?.step.onError;
  if (onError) return onError === "run-dependents";
  return facts.plan.policy.onStepFailure === "run-dependents";
}

function checkUnits(call: StartingCall, fail: Fail): void {
  const { facts, keys, step } = call;
  const units = keys.map((key) => facts.units.get(key));
  if (units.every((unit) => unit?.status === "COMPLETED")) {
    fail("completed-is-final", `${nameOf(call)}, which is COMPLETED`);
  }
  if (step.tool.effectClass === "R") return;
  const hasIntent = units.some((unit) => isIntentOf(unit, call));
  if (!hasIntent) {
    const states = units.map(
      (unit) => `${unit?.status ?? "unknown"} after ${unit?.attempts.length ?? 0} attempts`,
    );
    fail("intent-first", `${nameOf(call)} (class ${step.tool.effectClass}), which is ${states.join(", ")}`);
  }
}

function isIntentOf(unit: StepRun | undefined, call: StartingCall): boolean {
  const attempt = unit?.attempts.at(-1);
  if (!unit || !attempt || unit.status !== "RUNNING") return false;
  const isOfThisClaim = call.facts.epochs.get(unit.key) === call.epoch;
  return attempt.executor === call.owner && attempt.endedAt === null && isOfThisClaim;
}
