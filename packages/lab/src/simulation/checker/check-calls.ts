import type { StepRun } from "@planwright/engine";
import {
  calledIn,
  type EffectClass,
  isCarried,
  isForEachStep,
  isJsonObject,
  isKeyed,
  isRepeatable,
  isTerminalPlanStatus,
  isTerminalStepStatus,
  isUnrepeatable,
  type Plan,
} from "@planwright/plan";
import type { UnitChange } from "../../journal/unit-changes.ts";
import type { WorldTool } from "../world/catalogue.ts";
import { EPOCH_MS } from "../world/processes.ts";
import { MAX_CLAIMS_WITHOUT_PROGRESS, stopsAtFailure } from "./check-plans.ts";
import type { Fail, InvariantName } from "./invariants.ts";
import { calledBy, nameOfUnit, type PlanFacts, type StepFacts, unitsOfStep } from "./plan-facts.ts";

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
  if (isRepeatable(step.tool)) return unit.attempts.length === 0;
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
  if (isLookup || isUnrepeatable(step.tool)) return isLookup;
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
  return isRepeatable(tool) && !tool.hasSideEffects;
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
  if (isRepeatable(step.tool)) return;
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

const ONCE: Partial<Record<EffectClass, InvariantName>> = {
  K: "keyed-effect-once",
  U: "plain-effect-once",
  V: "verified-effect-once",
};

/** Counts the effects of tools by unit, and compares the calls of a unit. */
export interface EffectsCheck {
  /** A tool acts for a unit. */
  acted(unit: string, tool: WorldTool, args: string): void;
  /** An operator requests another call of a unit in doubt. */
  allowedAgain(unit: string): void;
  /** The operator has said that after the end of its plan: a call of a later version has another key. */
  leftToRerun(unit: string): void;
  /**
   * A caller has accepted that calls of the unit are repeated in a version of its request, or an operator has
   * approved one there.
   * @param version - absent: in any version, because an operator has said that the call did not happen
   */
  repeatAccepted(unit: string, version?: number): void;
  /** A call with these units is sent: it needs the arguments and the key of their earlier calls. */
  sent(units: readonly string[], call: SentCall): void;
  /** A plan is submitted again after its request was removed: its calls are other calls. */
  forget(plan: string): void;
}

/** The arguments and the key of a call. */
interface SentCall {
  arguments: string;
  /** Those of each unit. */
  each: readonly string[];
  planId: string;
  /** The version of its plan. */
  version: number;
  tool: WorldTool;
  key: string | undefined;
  /**
   * True for a read without a durable earlier attempt. When an attempt is lost, the inputs of its arguments
   * may be lost too, so the arguments may differ.
   */
  mayDiffer: boolean;
}

/** @param isOpen - true when the record of a unit of a plan says that its call may have acted, and nothing else */
export function createEffectsCheck(
  fail: Fail,
  isOpen: (planId: string, unit: string) => boolean,
): EffectsCheck {
  const effects = new Map<string, number>();
  const allowed = new Map<string, number>();
  const rerun = new Map<string, number>();
  const sentBefore = new Map<string, SentCall>();
  /** Units and versions, and units in any version. */
  const accepted = new Set<string>();
  /** Effects of calls whose repeat was accepted, by unit and arguments. */
  const acceptedEffects = new Map<string, number>();
  const isAccepted = (unit: string, version: number | undefined): boolean =>
    accepted.has(unit) || accepted.has(`${unit} ${version}`);
  /** The last call of each unit with the same arguments, in any version. */
  const lastCalls = new Map<string, SentCall>();
  const unitsOfKey = new Map<string, string>();

  return {
    acted(unit, tool, args) {
      const name = `${unit} ${args}`;
      const count = (effects.get(name) ?? 0) + 1;
      effects.set(name, count);
      const again = acceptedEffects.get(name) ?? 0;
      const most = 1 + ((isKeyed(tool) ? rerun : allowed).get(unit) ?? 0) + again;
      const invariant = ONCE[tool.effectClass];
      if (!invariant || count <= most) return;
      if (isAccepted(unit, lastCalls.get(name)?.version)) acceptedEffects.set(name, again + 1);
      else fail(invariant, `${unit} acted ${count} times; ${most} is allowed`);
    },
    allowedAgain(unit) {
      allowed.set(unit, (allowed.get(unit) ?? 0) + 1);
    },
    leftToRerun(unit) {
      rerun.set(unit, (rerun.get(unit) ?? 0) + 1);
    },
    repeatAccepted: (unit, version) => void accepted.add(version === undefined ? unit : `${unit} ${version}`),
    forget(plan) {
      for (const known of [effects, allowed, rerun, accepted, acceptedEffects, lastCalls])
        for (const unit of known.keys()) if (unit.startsWith(`${plan}/`)) known.delete(unit);
    },
    sent(units, call) {
      for (const [index, unit] of units.entries()) {
        const one = `${unit} ${call.each[index]}`;
        const last = lastCalls.get(one);
        lastCalls.set(one, call);
        const isOther = last && last.planId !== call.planId && !isRepeatable(call.tool);
        if (!isOther || isAccepted(unit, call.version) || allowed.has(unit)) continue;
        if (isKeyed(call.tool) && last.key === call.key) continue;
        // With a key an answered error may be followed by another call, of which the tool knows that it is another.
        const mayHaveActed = effects.has(one) || (!isKeyed(call.tool) && isOpen(last.planId, unit));
        if (mayHaveActed)
          fail("versions-once", `${unit} acted in ${last.planId} and is called again with key ${call.key}`);
      }
      const name = units.join(",");
      const inVersion = `${call.planId} ${name}`;
      const before = sentBefore.get(inVersion);
      sentBefore.set(inVersion, call);
      if (before && !call.mayDiffer && before.arguments !== call.arguments) {
        fail("same-arguments", `${name} was sent ${before.arguments} and then ${call.arguments}`);
      }
      if (before && before.key !== call.key) {
        fail("same-key", `${name} was sent with key ${before.key} and then ${call.key}`);
      }
      if (call.key === undefined) return;
      const other = unitsOfKey.get(call.key);
      unitsOfKey.set(call.key, name);
      if (other !== undefined && other !== name)
        fail("same-key", `${other} and ${name} share key ${call.key}`);
    },
  };
}

/** Compares the recorded state of units with the effects of their tools. */
export interface RecordsCheck {
  /** A tool acts for a unit of a plan. */
  acted(unit: string, facts: PlanFacts | undefined): void;
  /** An operator has resolved the unit: from now on its recorded state is the operator's decision. */
  resolvedByOperator(unit: string): void;
  /** A plan has ended. */
  ended(facts: PlanFacts): void;
  /** A client asks for a version of a request. */
  asked(requestId: string, version: number, wanted: WantedVersion): void;
  /** A client was told that its version repeats calls of these units, which it has to accept first. */
  toAccept(requestId: string, version: number, keys: readonly string[]): void;
  /** A unit has changed by an entry. */
  changed(facts: PlanFacts, change: UnitChange): void;
}

/** A version as a client wants it: its plan, and the steps that may repeat their calls. */
interface WantedVersion {
  plan: Plan;
  accepted: ReadonlySet<string>;
}

/** Checks a unit whose state has just changed to in doubt. @param now - simulated milliseconds */
export function checkDoubt(facts: PlanFacts, unit: StepRun, now: number, fail: Fail): void {
  const { cancelAskedAt, document, name, steps } = facts;
  if (unit.status !== "IN_DOUBT" || steps.get(unit.stepId)?.toolName !== EXACT_LOOKUP_TOOL) return;
  const isExpired =
    document.deadlineAt !== null && document.deadlineAt.getTime() - EPOCH_MS <= now + CLOCK_MS;
  if (cancelAskedAt !== null || isExpired || unit.error?.code === "POISONED") return;
  fail("looked-up-until-known", `${name}/${unit.key} is in doubt: ${unit.error?.message}`);
}

/** The lookup of this tool is final after some time, and never wrong. */
const EXACT_LOOKUP_TOOL = "looked_up";
/**
 * How far an executor's estimate of the database clock may differ from the simulated time, in milliseconds.
 */
const CLOCK_MS = 1_000;

/** Statuses that say that no call of the unit had an effect, FAILED unless its effect says otherwise. */
const WITHOUT_EFFECT = new Set(["PENDING", "FAILED", "CANCELLED", "SKIPPED"]);

/** True for a unit that is recorded as one that acted or may have acted. */
function maySayEffect({ status, effect, mayHaveActed }: StepRun): boolean {
  if (!WITHOUT_EFFECT.has(status)) return true;
  // A call that was answered with an error may have been cancelled while it waited for its next attempt.
  const hasFailed = status === "FAILED" || (status === "CANCELLED" && mayHaveActed === false);
  return hasFailed && (effect === "possible" || effect === "done");
}

/** True when a call of the unit acted or may have acted. */
function leavesRepeat({ status, effect, mayHaveActed, attempts, unanswered }: StepRun): boolean {
  const isOpen = attempts.some(({ outcome }) => outcome !== "completed" && outcome !== "failed");
  const hasEffect = effect === "possible" || effect === "done";
  return (
    (status === "COMPLETED" && attempts.length > 0) ||
    hasEffect ||
    mayHaveActed ||
    isOpen ||
    unanswered.length > 0
  );
}

/**
 * Creates the check of a new world.
 * @param versionsOf - all versions of a request
 */
export function createRecordsCheck(
  fail: Fail,
  versionsOf: (requestId: string) => readonly PlanFacts[],
): RecordsCheck {
  /** By plan and unit: a later version may call a unit again. */
  const actedUnits = new Set<string>();
  const resolved = new Set<string>();
  /** By request and version. */
  const wanted = new Map<string, WantedVersion>();

  /** True when a call of the step in an earlier version acted or may have acted, which a call that only reads does not. */
  function repeats(
    { step, tool, toolName }: ReturnType<typeof calledBy>,
    requestId: string,
    version: number,
  ): boolean {
    if (!tool.hasSideEffects) return false;
    const names = new Set(unitsOfStep(step));
    const isSame = (facts: PlanFacts, unit: StepRun): boolean => {
      const unitName = nameOfUnit(facts, unit);
      if (names.has(unitName))
        return leavesRepeat(unit) || actedUnits.has(`${calledIn(unit.planId, unit)} ${unitName}`);
      // A planner may have put other calls in the place of one whose answer was lost.
      const isReplaced = unit.stepId === step.id || unit.tool === toolName;
      return isReplaced && unit.status !== "COMPLETED" && leavesRepeat(unit);
    };
    const earlier = versionsOf(requestId).filter(({ document }) => document.version < version);
    return earlier.some((facts) => [...facts.units.values()].some((unit) => isSame(facts, unit)));
  }

  function check(facts: PlanFacts, unit: StepRun): void {
    const { document, units, steps } = facts;
    const unitName = nameOfUnit(facts, unit);
    if (!actedUnits.has(`${document._id} ${unitName}`) || resolved.has(unitName) || maySayEffect(unit))
      return;
    const tool = steps.get(unit.stepId)?.toolName;
    const list = unit.item === null ? "" : `, its list ${units.get(unit.stepId)?.status}`;
    fail(
      "doubt-is-recorded",
      `${unitName} is ${unit.status} (${unit.error?.code}, effect ${unit.effect})${list}, and ${tool} acted for it`,
    );
  }

  return {
    acted(unit, facts) {
      actedUnits.add(`${facts?.document._id} ${unit}`);
      if (!facts || !isTerminalPlanStatus(facts.document.status)) return;
      for (const one of facts.units.values()) check(facts, one);
    },
    resolvedByOperator: (unit) => void resolved.add(unit),
    ended(facts) {
      for (const unit of facts.units.values()) check(facts, unit);
    },
    asked: (requestId, version, wantedVersion) => void wanted.set(`${requestId} ${version}`, wantedVersion),
    toAccept(requestId, version, keys) {
      const { plan, accepted } = wanted.get(`${requestId} ${version}`) ?? {};
      for (const key of keys) {
        const id = key.replace(/\[\d+\]$/, "");
        const before = versionsOf(requestId).flatMap(({ steps }) => steps.get(id) ?? []);
        const now = plan?.steps.find((step) => step.id === id);
        const steps = now ? [...before, calledBy(now)] : before;
        const isDemanded = steps.some((step) => repeats(step, requestId, version));
        if (accepted?.has(id) || !isDemanded)
          fail("no-needless-approval", `a client has to accept ${key} in version ${version} of ${requestId}`);
      }
    },
    changed(facts, { before, after }) {
      const { document, name, steps, plan } = facts;
      const step = steps.get(after.stepId);
      const isRefused = after.error?.code === "REPEAT_NOT_ACCEPTED" && before?.status !== after.status;
      const isAsked = after.status === "WAITING_APPROVAL" && before?.status !== after.status;
      if (!step || isCarried(after) || (!isRefused && !isAsked)) return;
      const asked = wanted.get(`${document.requestId} ${document.version}`);
      const written = (asked?.plan ?? plan).steps.find(({ id }) => id === after.stepId);
      const calls = isForEachStep(step.step) ? after.arguments?.value?.["calls"] : undefined;
      const isEmpty = isAsked && isJsonObject(calls) && Object.keys(calls).length === 0;
      if (isEmpty)
        fail("no-needless-approval", `${name}/${after.key} waits for an approval, and has no calls`);
      if (isAsked && (step.tool.needsApproval || written?.approval === true)) return;
      const isAccepted = asked?.accepted.has(after.stepId) ?? false;
      if (!isAccepted && repeats(step, document.requestId, document.version)) return;
      const what = isAsked ? "waits for an approval" : "is refused as a repeat";
      const why = isAccepted ? "the client has accepted it" : "nothing demands it";
      fail("no-needless-approval", `${name}/${after.key} of version ${document.version} ${what}, and ${why}`);
    },
  };
}
