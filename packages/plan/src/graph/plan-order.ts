/**
 * Views of a plan's graph for reports and for the scheduler. Execution itself has no waves: a step starts
 * when it can.
 */

import type { ToolContract } from "../contract/contract.ts";
import type { Plan } from "../document/plan.ts";
import { toolOfStep } from "../document/step.ts";
import type { Policy } from "../policy/policy.ts";
import { barrierOrder } from "./barrier-order.ts";
import { breakCycles } from "./break-cycles.ts";
import { topologicalOrder } from "./edges.ts";
import { DependencyCycleError } from "./order-errors.ts";
import { type PlanGraph, planGraph } from "./plan-graph.ts";

/** The parts of a plan that decide its order; without a policy a cycle is an error. */
export type PlanToOrder = Pick<Plan, "steps"> & { policy?: Partial<Pick<Policy, "onCycle">> | undefined };

/** A graph without cycles, with steps in plan order, by position. */
interface OrderedGraph {
  ids: string[];
  dependencies: number[][];
}

/**
 * The dependencies of a graph after its cycles were broken by the policy, by step id in plan order.
 * @throws {DependencyCycleError} when there is a cycle and the policy is "error"
 */
export function acyclicDependencies(
  graph: PlanGraph,
  onCycle: Policy["onCycle"] = "error",
): Map<string, string[]> {
  const { ids, dependencies } = orderedGraph(graph, onCycle);
  return new Map(
    ids.map((id, index) => [id, (dependencies[index] ?? []).flatMap((other) => ids[other] ?? [])]),
  );
}

/** Further sources of order. */
export interface OrderOptions {
  /** Contracts by tool: tools in `dependsOn` come first, and a barrier is alone. */
  contracts?: ReadonlyMap<string, Pick<ToolContract, "dependsOn" | "barrier">> | undefined;
}

/**
 * Steps in waves: each wave has the steps whose last dependency is in the previous wave, in plan order. A
 * barrier is a separate wave, after all steps before it and before all steps after it (start rule).
 * @throws {DependencyCycleError} when there is a cycle and the plan's policy is "error"
 */
export function planWaves(plan: PlanToOrder, options: OrderOptions = {}): string[][] {
  const { ids, dependencies } = graphWithBarriers(plan, options);
  const waveOf = new Uint32Array(ids.length);
  for (const index of topologicalOrder(dependencies)) {
    for (const other of dependencies[index] ?? []) {
      waveOf[index] = Math.max(waveOf[index] ?? 0, (waveOf[other] ?? 0) + 1);
    }
  }
  const waves: string[][] = [];
  ids.forEach((id, index) => {
    const wave = waveOf[index] ?? 0;
    while (waves.length <= wave) waves.push([]);
    waves[wave]?.push(id);
  });
  return waves;
}

/**
 * Step ids with dependencies first and barriers in barrier order; otherwise plan order, so a plan that is
 * already in order is returned unchanged.
 * @throws {DependencyCycleError} when there is a cycle and the plan's policy is "error"
 */
export function executionOrder(plan: PlanToOrder, options: OrderOptions = {}): string[] {
  const { ids, dependencies } = graphWithBarriers(plan, options);
  return topologicalOrder(dependencies).flatMap((index) => ids[index] ?? []);
}

/**
 * The graph in which each barrier also waits for the steps between the previous barrier and itself, and the
 * following steps wait for it.
 */
function graphWithBarriers(plan: PlanToOrder, { contracts }: OrderOptions): OrderedGraph {
  const graph = orderedGraph(planGraph(plan, { contracts }), plan.policy?.onCycle);
  if (!contracts) return graph;
  const { ids } = graph;
  const barrierIds = new Set(
    plan.steps.flatMap((step) => (contracts.get(toolOfStep(step))?.barrier ? [step.id] : [])),
  );
  const { barriers, before } = barrierOrder(graph.dependencies, (index) => barrierIds.has(ids[index] ?? ""));
  if (barriers.length === 0) return graph;
  // A step before a barrier that waits for a step after the barrier also comes after it: the barrier does not
  // wait for that step.
  const placeOf = new Map(barriers.map((index, place) => [index, place]));
  for (const index of topologicalOrder(graph.dependencies)) {
    for (const other of graph.dependencies[index] ?? []) {
      const least = (placeOf.get(other) ?? -1) + 1;
      before[index] = Math.max(before[index] ?? 0, before[other] ?? 0, least);
    }
  }
  const dependencies = graph.dependencies.map((list) => [...list]);
  before.forEach((count, index) => {
    const last = barriers[count - 1];
    const next = barriers[count];
    if (last !== undefined) dependencies[index]?.push(last);
    if (next !== undefined && next !== index) dependencies[next]?.push(index);
  });
  return { ids, dependencies };
}

function orderedGraph(graph: PlanGraph, onCycle: Policy["onCycle"] = "error"): OrderedGraph {
  const ids = [...graph.dependencies.keys()];
  const positions = new Map(ids.map((id, index) => [id, index]));
  const dependencies = ids.map((id) =>
    (graph.dependencies.get(id) ?? []).flatMap((other) => positions.get(other) ?? []),
  );
  if (!graph.cycle) return { ids, dependencies };
  if (onCycle === "error") throw new DependencyCycleError(graph.cycle);
  return { ids, dependencies: breakCycles(dependencies, onCycle).dependencies };
}
