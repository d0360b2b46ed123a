import type { ToolContract } from "../contract/contract.ts";
import { type Plan, type Step, toolOfStep } from "../document/plan.ts";
import { referencedSteps } from "../reference/referenced-steps.ts";
import { findCycle, stuckPositions, topologicalOrder } from "./edges.ts";

/** The dependencies between the steps of a plan, by step id: explicit ones and those by reference. */
export interface PlanGraph {
  /**
   * The dependencies of each step, each once, explicit ones first; ids that are not in the plan are left out.
   */
  dependencies: ReadonlyMap<string, readonly string[]>;
  /** The dependents of each step, in plan order. */
  dependents: ReadonlyMap<string, readonly string[]>;
  /**
   * Step ids with dependencies first, in plan order wherever possible; steps that are on a cycle or wait for
   * one are left out.
   */
  order: readonly string[];
  /** One cycle, each step depending on the next, the last on the first; absent when there is none. */
  cycle?: readonly string[] | undefined;
}

/** Further sources of dependencies. */
interface PlanGraphOptions {
  /**
   * Contracts by tool: a step then also depends on every step of the tools that its tool's contract names in
   * `dependsOn`.
   */
  contracts?: ReadonlyMap<string, Pick<ToolContract, "dependsOn">> | undefined;
}

/**
 * The dependency graph of a plan. Takes time linear in the size of the plan and its dependencies; depth does
 * not matter. Of several steps with the same id the first counts.
 */
export function planGraph(plan: Pick<Plan, "steps">, options: PlanGraphOptions = {}): PlanGraph {
  const positions = new Map<string, number>();
  const steps: Step[] = [];
  for (const step of plan.steps) {
    if (positions.has(step.id)) continue;
    positions.set(step.id, steps.length);
    steps.push(step);
  }
  const byContract = contractDependencies(steps, options.contracts);
  const edges = steps.map((step) => {
    const wanted = new Set([...step.dependsOn, ...referencedSteps(step, plan), ...byContract(step)]);
    return [...wanted].flatMap((id) => positions.get(id) ?? []);
  });
  return graphOfEdges(steps, edges);
}

function graphOfEdges(steps: readonly Step[], edges: readonly (readonly number[])[]): PlanGraph {
  const idOf = (index: number) => steps[index]?.id ?? "";
  const dependencies = new Map<string, string[]>();
  const dependents = new Map<string, string[]>(steps.map(({ id }) => [id, []]));
  steps.forEach(({ id }, index) => {
    const list = (edges[index] ?? []).map(idOf);
    dependencies.set(id, list);
    for (const other of list) dependents.get(other)?.push(id);
  });
  const stuck = stuckPositions(edges);
  const cycle = findCycle(edges, stuck)?.map(idOf);
  const free = cycle ? edges.map((list, index) => (stuck[index] ? [] : list)) : edges;
  const order = topologicalOrder(free)
    .filter((index) => !stuck[index])
    .map(idOf);
  return { dependencies, dependents, order, ...(cycle ? { cycle } : {}) };
}

function contractDependencies(
  steps: readonly Step[],
  contracts: PlanGraphOptions["contracts"],
): (step: Step) => string[] {
  if (!contracts) return () => [];
  const stepsOf = new Map<string, string[]>();
  for (const step of steps) {
    const tool = toolOfStep(step);
    const known = stepsOf.get(tool);
    if (known) known.push(step.id);
    else stepsOf.set(tool, [step.id]);
  }
  return (step) => {
    const own = toolOfStep(step);
    const tools = contracts.get(own)?.dependsOn ?? [];
    return tools.flatMap(({ tool }) => (tool === own ? [] : (stepsOf.get(tool) ?? [])));
  };
}

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
