import { type EffectFacts, effectOfUnit, type FoldedUnit } from "@planwright/engine";
import { needsPerson, STEP_LIFECYCLE } from "@planwright/plan";
import type { PlanDocument } from "../records/plan-document.ts";

type Needs = NonNullable<PlanDocument["needs"]>;

/** What a plan needs from a person, by the states of its units. Sorted. Pure. */
export function needsOf(units: Iterable<Pick<FoldedUnit, "status">>): Needs {
  const needs = new Set<Needs[number]>();
  for (const { status } of units) {
    const need = STEP_LIFECYCLE[status].needs;
    if (needsPerson(need)) needs.add(need as Needs[number]);
  }
  return [...needs].toSorted();
}

/**
 * The fields of a plan about its needs from now on. Pure.
 * @param before - the plan until now
 * @param now - null: not known
 */
export function needsFields(
  before: Pick<PlanDocument, "needs" | "needsSince">,
  needs: Needs,
  now: Date | null,
): Required<Pick<PlanDocument, "needs" | "needsSince">> {
  if (needs.length === 0) return { needs, needsSince: null };
  // A plan of an earlier version may have needs without a time.
  return { needs, needsSince: (before.needs ?? []).length > 0 ? (before.needsSince ?? null) : now };
}

/**
 * Number of steps and items that failed or were cancelled after a call that acted or may have acted. Units in
 * doubt are not among them. Pure.
 */
export function countMayHaveActed(units: Iterable<EffectFacts>): number {
  let count = 0;
  for (const unit of units) {
    if (unit.status !== "FAILED" && unit.status !== "CANCELLED") continue;
    const effect = effectOfUnit(unit);
    if (effect === "possible" || effect === "done") count += 1;
  }
  return count;
}
