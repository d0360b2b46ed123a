import { isDeepStrictEqual } from "node:util";
import { argumentsOfStep, isForEachStep, type PlanGraph, type Step, toolOfStep } from "@planwright/plan";

/** Who depends on whom, in each of two plans. */
export interface TwoGraphs {
  before: PlanGraph;
  now: PlanGraph;
}

/** True when a step of another plan calls the same, of the same, after the same: what the model has no say in does not count. Pure. */
export function isSameStep(step: Step, old: Step | undefined, { before, now }: TwoGraphs): boolean {
  if (!old || toolOfStep(step) !== toolOfStep(old)) return false;
  if (isForEachStep(step) || isForEachStep(old)) {
    if (!isForEachStep(step) || !isForEachStep(old) || !isDeepStrictEqual(step.forEach, old.forEach))
      return false;
  } else if (!isDeepStrictEqual(argumentsOfStep(step), argumentsOfStep(old))) return false;
  if (!isDeepStrictEqual(step.when, old.when)) return false;
  return isDeepStrictEqual(sourcesOf(step.id, now), sourcesOf(step.id, before));
}

function sourcesOf(id: string, { dependencies }: PlanGraph): string[] {
  return [...(dependencies.get(id) ?? [])].toSorted();
}
