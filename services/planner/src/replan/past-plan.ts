import type { StepRun } from "@planwright/engine";
import { type Plan, planGraph, type Step, type StepStatus } from "@planwright/plan";
import { type PlanRecord, unfinishedLists } from "@planwright/store";

/** A plan that has ended, prepared for its replacement. */
export interface PastPlan {
  plan: Plan;
  /** Units of every step; the unit of the step itself comes first. */
  unitsOf: ReadonlyMap<string, readonly StepRun[]>;
  statusOf: ReadonlyMap<string, StepStatus>;
  /** Lists with items that did not complete, including lists that completed nevertheless. */
  unfinished: ReadonlySet<string>;
  /**
   * Completed steps without failed items whose dependencies are all such steps. Any later version can contain
   * them unchanged. In plan order.
   */
  given: readonly Step[];
  outputs: PlanRecord["outputs"];
  /** Plans that were tried so far, this one first. */
  tried: readonly Plan[];
}

/** Prepares a record for a new version. Pure. */
export function toPastPlan({ plan: { plan }, units, outputs, earlier }: PlanRecord): PastPlan {
  const unitsOf = new Map<string, StepRun[]>(plan.steps.map(({ id }) => [id, []]));
  for (const unit of units) unitsOf.get(unit.stepId)?.push(unit);
  const stepUnits = units.filter(({ item }) => item === null);
  const statusOf = new Map(stepUnits.map(({ stepId, status }) => [stepId, status]));
  const unfinished = unfinishedLists(units);
  const { order, dependencies } = planGraph(plan);
  const givenIds = new Set<string>();
  for (const id of order) {
    const isDone = statusOf.get(id) === "COMPLETED" && !unfinished.has(id);
    // With `run-dependents` a step completes although a dependency failed. It would refer to a step that is
    // missing in the new plan.
    if (isDone && (dependencies.get(id) ?? []).every((source) => givenIds.has(source))) givenIds.add(id);
  }
  const given = plan.steps.filter(({ id }) => givenIds.has(id));
  return { plan, unitsOf, statusOf, unfinished, given, outputs, tried: [plan, ...earlier] };
}
