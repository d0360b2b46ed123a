import { isDeepStrictEqual } from "node:util";
import { argumentsOfStep, isForEachStep, type PlanGraph, type Step, toolOfStep } from "@planwright/plan";

/** The dependencies of each of two plans. */
export interface TwoGraphs {
  before: PlanGraph;
  now: PlanGraph;
}

/**
 * True when a step of another plan makes the same call with the same dependencies. Fields that the model
 * cannot set are ignored. Pure.
 */
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
