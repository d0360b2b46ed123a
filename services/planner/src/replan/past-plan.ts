import { type Plan, planGraph, type Step, type StepStatus } from "@planwright/plan";
import { type PlanRecord, type StepDocument, unfinishedLists } from "@planwright/store";

/** A plan that is over, as a plan in its place is made from it. */
export interface PastPlan {
  plan: Plan;
  /** Units of every step, its own first. */
  unitsOf: ReadonlyMap<string, readonly StepDocument[]>;
  statusOf: ReadonlyMap<string, StepStatus>;
  /** Lists of which not every item completed, those that completed all the same included. */
  unfinished: ReadonlySet<string>;
  /** Completed steps whose dependencies completed as well, and whole: any later version can hold them as they are. In plan order. */
  given: readonly Step[];
  outputs: PlanRecord["outputs"];
  /** Plans that were tried before, this one first. */
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
    // With `run-dependents` a step completes although one before it failed: it would refer to a step that is no longer there.
    if (isDone && (dependencies.get(id) ?? []).every((source) => open.has(source))) open.add(id);
  }
  const given = plan.steps.filter(({ id }) => open.has(id));
  return { plan, unitsOf, statusOf, unfinished, given, outputs, tried: [plan, ...earlier] };
}
