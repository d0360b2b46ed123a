import type { StepRun } from "@planwright/engine";
import { isForEachStep, isJsonObject, isTerminalPlanStatus, type Plan } from "@planwright/plan";
import type { UnitChange } from "@planwright/store";
import { EPOCH_MS } from "../world/simulated-process.ts";
import type { Fail } from "./invariants.ts";
import { calledBy, nameOfUnit, type PlanFacts, unitsOfStep } from "./plan-facts.ts";

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
export interface WantedVersion {
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
function mayHaveActed({ status, effect, mayHaveActed, attempts, unanswered }: StepRun): boolean {
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

  /** True when a call of the step in an earlier version acted or may have acted. */
  function repeats(
    { step, toolName, tool }: ReturnType<typeof calledBy>,
    requestId: string,
    version: number,
  ): boolean {
    const names = new Set(unitsOfStep(step));
    const isSame = (facts: PlanFacts, unit: StepRun): boolean => {
      const unitName = nameOfUnit(facts, unit);
      if (names.has(unitName))
        return mayHaveActed(unit) || actedUnits.has(`${unit.carriedFrom ?? unit.planId} ${unitName}`);
      // A planner may have put other calls in the place of one whose answer was lost.
      const isReplaced = unit.stepId === step.id || unit.tool === toolName;
      return isReplaced && unit.status !== "COMPLETED" && mayHaveActed(unit);
    };
    const earlier = versionsOf(requestId).filter(({ document }) => document.version < version);
    return (
      tool.hasSideEffects &&
      earlier.some((facts) => [...facts.units.values()].some((unit) => isSame(facts, unit)))
    );
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
      if (!step || after.carriedFrom !== null || (!isRefused && !isAsked)) return;
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
