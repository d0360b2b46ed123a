import { type Plan, planGraph } from "@planwright/plan";
import { alignSteps, nodeOf } from "./align-steps.ts";
import { type Counts, countMatches, sumCounts } from "./counts.ts";
import { stepPairs } from "./step-pairs.ts";

type Steps = Pick<Plan, "steps">;

/** How well a found plan matches the wanted one. */
export interface PlanComparison {
  /** Tools, as a multiset. */
  nodes: Counts;
  /** Dependencies, explicit or by reference. Dependencies that others imply are not counted. */
  edges: Counts;
  /** Arguments, leaf by leaf. All arguments of a missing or extra step count. */
  arguments: Counts;
  /** True when nothing is missing or extra. */
  isExact: boolean;
}

const NO_PLAN: Steps = { steps: [] };

/** Compares two plans; ids of steps and their order do not matter. Null means that there is no plan. */
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
  const counted = sumCounts(
    [...names].map((name) => countMatches(wantedById.get(name) ?? [], foundById.get(name) ?? [])),
  );
  const isExact = [nodes, edges, counted].every(({ wrong, missed }) => wrong + missed === 0);
  return { nodes, edges, arguments: counted, isExact };
}

/** The dependencies that no others imply, as "later <- earlier". */
function edgesOf(plan: Steps, nameOf: (stepId: string) => string): string[] {
  const { dependencies, order } = planGraph(plan);
  const ancestors = new Map<string, Set<string>>();
  for (const id of order) {
    const direct = dependencies.get(id) ?? [];
    ancestors.set(id, new Set([...direct, ...direct.flatMap((each) => [...(ancestors.get(each) ?? [])])]));
  }
  return [...dependencies].flatMap(([id, direct]) =>
    direct
      .filter((each) => !direct.some((between) => between !== each && ancestors.get(between)?.has(each)))
      .map((each) => `${nameOf(id)} <- ${nameOf(each)}`),
  );
}
