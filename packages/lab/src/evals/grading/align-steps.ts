import { isForEachStep, type Plan, type Step, toolOfStep } from "@planwright/plan";
import { countMatches } from "./counts.ts";
import { stepPairs } from "./step-pairs.ts";

type Steps = Pick<Plan, "steps">;

/**
 * Which found step stands for which wanted one, found id to wanted id: of the same tool, those that share the
 * most arguments first, then in plan order. Names of steps do not count: a reference is known by the call
 * that it leads to.
 */
export function alignSteps(wanted: Steps, found: Steps): Map<string, string> {
  const wantedPairs = pairsOf(wanted);
  const foundPairs = pairsOf(found);
  const candidates = wanted.steps.flatMap((want, wantedAt) =>
    found.steps.flatMap((got, foundAt) => {
      if (nodeOf(want) !== nodeOf(got)) return [];
      const { right } = countMatches(wantedPairs[wantedAt] ?? [], foundPairs[foundAt] ?? []);
      return [{ wanted: want.id, found: got.id, right, distance: Math.abs(wantedAt - foundAt) }];
    }),
  );
  const aligned = new Map<string, string>();
  const taken = new Set<string>();
  for (const each of candidates.toSorted((a, b) => b.right - a.right || a.distance - b.distance)) {
    if (aligned.has(each.found) || taken.has(each.wanted)) continue;
    aligned.set(each.found, each.wanted);
    taken.add(each.wanted);
  }
  return aligned;
}

/** What makes two steps the same kind of node: the tool, and whether it is called once or for each item. */
export function nodeOf(step: Step): string {
  return isForEachStep(step) ? `for each: ${toolOfStep(step)}` : toolOfStep(step);
}

/**
 * Each step's arguments twice: with references by what the step before was told, and by its tool alone, so
 * that one fault stays one.
 */
function pairsOf(plan: Steps): string[][] {
  const byId = new Map(plan.steps.map((step) => [step.id, step]));
  const byTool = (id: string): string => {
    const step = byId.get(id);
    return step ? nodeOf(step) : id;
  };
  const byCall = (id: string): string => {
    const step = byId.get(id);
    return step ? JSON.stringify([nodeOf(step), stepPairs(step, byTool)]) : id;
  };
  return plan.steps.map((step) => [...stepPairs(step, byCall), ...stepPairs(step, byTool)]);
}
