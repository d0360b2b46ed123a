import { isForEachStep, type Plan, type Step, toolOfStep } from "@planwright/plan";
import { countMatches } from "./counts.ts";
import { stepPairs } from "./step-pairs.ts";

type Steps = Pick<Plan, "steps">;

/**
 * Maps ids of found steps to ids of the wanted steps that they match: steps with the same tool, first those
 * that share the most arguments, then in plan order. Ids of steps do not matter: a reference is identified by
 * the call that it refers to.
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

/** The kind of a step: its tool, and whether it is called once or for each item. */
export function nodeOf(step: Step): string {
  return isForEachStep(step) ? `for each: ${toolOfStep(step)}` : toolOfStep(step);
}

/**
 * Each step's arguments twice: with references named by the referenced step's tool and arguments, and by its
 * tool only. So one mistake counts once.
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
