import type { Plan } from "../document/plan.ts";
import { referencedSteps } from "../reference/referenced-steps.ts";
import { planGraph } from "./plan-graph.ts";

/**
 * The steps that use the output of one of these steps, directly or indirectly: steps that refer to it, not
 * steps that only come after it. With `mergeDependencyOutputs` every dependent uses it. Linear in the size of
 * the plan.
 * @param dependents - dependents of each step, including those by contracts of tools; default: those of the
 *   plan
 */
export function readersOf(
  plan: Plan,
  ids: Iterable<string>,
  dependents: ReadonlyMap<string, readonly string[]> = planGraph(plan).dependents,
): Set<string> {
  const readers = plan.policy.mergeDependencyOutputs ? dependents : directReaders(plan);
  const found = new Set<string>();
  const path = [...ids];
  for (let id = path.pop(); id !== undefined; id = path.pop()) {
    for (const reader of readers.get(id) ?? []) {
      if (found.has(reader)) continue;
      found.add(reader);
      path.push(reader);
    }
  }
  return found;
}

function directReaders(plan: Plan): ReadonlyMap<string, readonly string[]> {
  const readers = new Map<string, string[]>();
  for (const step of plan.steps) {
    for (const source of referencedSteps(step, plan)) {
      const known = readers.get(source);
      if (known) known.push(step.id);
      else readers.set(source, [step.id]);
    }
  }
  return readers;
}
