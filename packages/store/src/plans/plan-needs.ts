import { type EffectFacts, effectOfUnit, type FoldedPlan, type FoldedUnit } from "@planwright/engine";
import { needsPerson, STEP_LIFECYCLE } from "@planwright/plan";
import { MAX_UNDECIDED, type PlanDocument, type UndecidedUnit } from "../records/plan-document.ts";

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

/** When the first approval that units wait for expires; null without one. Pure. */
export function approvalUntil(units: Iterable<Pick<FoldedUnit, "expiresAt">>): Date | null {
  let first: Date | null = null;
  for (const { expiresAt } of units) if (expiresAt && (!first || expiresAt < first)) first = expiresAt;
  return first;
}

/** The units of a running plan about which an operator may decide, without those that were decided. Pure. */
export function undecidedOf(plan: FoldedPlan): NonNullable<PlanDocument["undecided"]> {
  const units: UndecidedUnit[] = [];
  for (const unit of plan.units.values()) {
    const undecided = toUndecided(plan, unit);
    if (undecided) units.push(undecided);
    if (units.length === MAX_UNDECIDED) break;
  }
  return { controlSeq: plan.controlSeq, units };
}

function toUndecided(
  { units, approvals, resolutions }: FoldedPlan,
  { key, stepId, status, approvalHash, attempts: { length: attempt } }: FoldedUnit,
): UndecidedUnit | undefined {
  if (status === "WAITING_APPROVAL" && approvalHash !== null) {
    const isDecided = approvals.some((one) => one.stepId === stepId && one.approvalHash === approvalHash);
    return isDecided ? undefined : { key, approvalHash };
  }
  // The output of a completed list says in_doubt for its items: they are settled after the end of the plan.
  if (status !== "IN_DOUBT" || units.get(stepId)?.status === "COMPLETED") return undefined;
  const isDecided = resolutions.some((one) => one.key === key && one.attempt === attempt);
  return isDecided ? undefined : { key, attempt };
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
