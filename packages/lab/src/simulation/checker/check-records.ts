import type { StepRun } from "@planwright/engine";
import { isTerminalPlanStatus } from "@planwright/plan";
import { EPOCH_MS } from "../world/simulated-process.ts";
import type { Fail } from "./invariants.ts";
import { nameOfUnit, type PlanFacts } from "./plan-facts.ts";

/** Compares the recorded state of units with the effects of their tools. */
export interface RecordsCheck {
  /** A tool acts for a unit of a plan. */
  acted(unit: string, facts: PlanFacts | undefined): void;
  /** An operator has resolved the unit: from now on its recorded state is the operator's decision. */
  resolvedByOperator(unit: string): void;
  /** A plan has ended. */
  ended(facts: PlanFacts): void;
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

/** Creates the check of a new world. */
export function createRecordsCheck(fail: Fail): RecordsCheck {
  /** By plan and unit: a later version may call a unit again. */
  const actedUnits = new Set<string>();
  const resolved = new Set<string>();

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
  };
}
