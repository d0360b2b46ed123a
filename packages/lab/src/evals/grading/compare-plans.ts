import { type Plan, planGraph } from "@planwright/plan";
import { alignSteps, nodeOf } from "./align-steps.ts";
import { type Counts, countMatches, sumCounts } from "./counts.ts";
import { stepPairs } from "./step-pairs.ts";

type Steps = Pick<Plan, "steps">;

/** How well a found plan matches the wanted one. */
export interface PlanComparison {
  /** Tools, as a multiset. */
  nodes: Counts;
  /** Dependencies, explicit or by reference; one that others imply counts on neither side. */
  edges: Counts;
  /** Arguments, leaf by leaf; of a step that is missing or too many, all of them. */
  arguments: Counts;
  /** True when nothing is missing and nothing too many. */
  isExact: boolean;
}

const NO_PLAN: Steps = { steps: [] };

/**
 * Compares two plans up to the names of their steps and the order in which they are written; null is a plan
 * that never came.
 */
export function comparePlans(wanted: Steps, found: Steps | null): PlanComparison {
  const other = found ?? NO_PLAN;
  const aligned = alignSteps(wanted, other);
  const nameOf = (id: string) => aligned.get(id) ?? `${id} (extra)`;
  const same = (id: string) => id;
  const nodes = countMatches(wanted.steps.map(nodeOf), other.steps.map(nodeOf));
  const edges = countMatches(edgesOf(wanted, same), edgesOf(other, nameOf));
  const foundById = new Map(other.steps.map((step) => [nameOf(step.id), stepPairs(step, nameOf)]));
  const wantedById = new Map(wanted.steps.map((step) => [step.id, stepPairs(step, same)]));
  const names = new Set([...wantedById.keys(), ...foundById.keys()]);
  const told = sumCounts(
    [...names].map((name) => countMatches(wantedById.get(name) ?? [], foundById.get(name) ?? [])),
  );
  const isExact = [nodes, edges, told].every(({ wrong, missed }) => wrong + missed === 0);
  return { nodes, edges, arguments: told, isExact };
}

/** The dependencies that no others imply, as "later <- earlier". */
function edgesOf(plan: Steps, nameOf: (stepId: string) => string): string[] {
  const { dependencies, order } = planGraph(plan);
  const behind = new Map<string, Set<string>>();
  for (const id of order) {
    const direct = dependencies.get(id) ?? [];
    behind.set(id, new Set([...direct, ...direct.flatMap((each) => [...(behind.get(each) ?? [])])]));
  }
  return [...dependencies].flatMap(([id, direct]) =>
    direct
      .filter((each) => !direct.some((between) => between !== each && behind.get(between)?.has(each)))
      .map((each) => `${nameOf(id)} <- ${nameOf(each)}`),
  );
}
