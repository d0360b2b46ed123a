import { isTerminalPlanStatus } from "@planwright/plan";
import type { StepDocument } from "@planwright/store";
import { EPOCH_MS } from "../world/simulated-process.ts";
import type { Fail } from "./invariants.ts";
import type { PlanFacts } from "./plan-facts.ts";

/** Compares the recorded state of units with what their tools did. */
export interface ToldCheck {
  /** A tool acts for a unit now. */
  acted(unit: string): void;
  /** An operator has resolved the unit: its recorded state is the operator's decision from now on. */
  settledByOperator(unit: string): void;
  /** A plan has ended. */
  ended(facts: PlanFacts): void;
}

/** Checks a unit that has just come to be in doubt. @param now - simulated milliseconds */
export function checkDoubt(facts: PlanFacts, unit: StepDocument, now: number, fail: Fail): void {
  const { cancelAskedAt, document, name, steps } = facts;
  if (unit.status !== "IN_DOUBT" || steps.get(unit.stepId)?.toolName !== TRUTHFUL_TOOL) return;
  const isExpired =
    document.deadlineAt !== null && document.deadlineAt.getTime() - EPOCH_MS <= now + CLOCK_MS;
  if (cancelAskedAt !== null || isExpired || unit.error?.code === "POISONED") return;
  fail("looked-up-until-known", `${name}/${unit.key} is in doubt: ${unit.error?.message}`);
}

/** Its lookup is final after some time, and never wrong. */
const TRUTHFUL_TOOL = "looked_up";
/** How far an executor's estimate of the database clock may be from the world's time, in milliseconds. */
const CLOCK_MS = 1_000;

/** Error codes that say that no call of the unit had an effect. */
const SAYS_NO = new Set(["PENDING", "FAILED", "CANCELLED", "SKIPPED"]);

/**
 * A check of a world in which nothing has acted.
 * @param planOf - the plan of a unit, by the name in its calls
 */
export function createToldCheck(planOf: (unit: string) => PlanFacts | undefined, fail: Fail): ToldCheck {
  const actedUnits = new Set<string>();
  const settled = new Set<string>();

  function check({ name, units, steps }: PlanFacts, unit: StepDocument): void {
    const unitName = unit.item === null ? `${name}/${unit.stepId}` : `${name}/${unit.stepId}/${unit.item}`;
    if (!actedUnits.has(unitName) || settled.has(unitName) || !SAYS_NO.has(unit.status)) return;
    const tool = steps.get(unit.stepId)?.toolName;
    const list = unit.item === null ? "" : `, its list ${units.get(unit.stepId)?.status}`;
    fail(
      "doubt-is-told",
      `${unitName} is ${unit.status} (${unit.error?.code})${list}, and ${tool} acted for it`,
    );
  }

  return {
    acted(unit) {
      actedUnits.add(unit);
      const facts = planOf(unit);
      if (!facts || !isTerminalPlanStatus(facts.document.status)) return;
      for (const one of facts.units.values()) check(facts, one);
    },
    settledByOperator: (unit) => void settled.add(unit),
    ended(facts) {
      for (const unit of facts.units.values()) check(facts, unit);
    },
  };
}
