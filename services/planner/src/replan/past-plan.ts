import { type Plan, planGraph, type Step, type StepStatus } from "@planwright/plan";
import { type PlanRecord, type StepDocument, unfinishedLists } from "@planwright/store";

/** A plan that has ended, prepared for making its replacement. */
export interface PastPlan {
  plan: Plan;
  /** Units of every step, its own first. */
  unitsOf: ReadonlyMap<string, readonly StepDocument[]>;
  statusOf: ReadonlyMap<string, StepStatus>;
  /** Lists with items that did not complete, including lists that completed in spite of that. */
  unfinished: ReadonlySet<string>;
  /**
   * Completed steps without failed items whose dependencies are of the same kind: any later version can
   * contain them unchanged. In plan order.
   */
  given: readonly Step[];
  outputs: PlanRecord["outputs"];
  /** Plans tried so far, this one first. */
  tried: readonly Plan[];
}

/** Sorts a record by what a new version can build on. Pure. */
export function toPastPlan({ plan: { plan }, units, outputs, earlier }: PlanRecord): PastPlan {
  const unitsOf = new Map<string, StepDocument[]>(plan.steps.map(({ id }) => [id, []]));
  for (const unit of units) unitsOf.get(unit.stepId)?.push(unit);
  const own = units.filter(({ item }) => item === null);
  const statusOf = new Map(own.map(({ stepId, status }) => [stepId, status]));
  const unfinished = unfinishedLists(units);
  const { order, dependencies } = planGraph(plan);
  const open = new Set<string>();
  for (const id of order) {
    const isDone = statusOf.get(id) === "COMPLETED" && !unfinished.has(id);
    // With `run-dependents` a step completes although a dependency failed. It would refer to a step that the
    // new plan lacks.
    if (isDone && (dependencies.get(id) ?? []).every((source) => open.has(source))) open.add(id);
  }
  const given = plan.steps.filter(({ id }) => open.has(id));
  return { plan, unitsOf, statusOf, unfinished, given, outputs, tried: [plan, ...earlier] };
}
