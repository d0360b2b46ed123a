import { barrierOrder, breakCycles, openersOf, type Policy, stuckPositions } from "@planwright/plan";
import type { Barriers, EngineState, StepNode } from "../state/engine-state.ts";

/** The barriers of a plan that has not started. Navigation that goes first does not wait for barriers. */
export function createBarriers(steps: readonly StepNode[], { dependencies }: Edges): Barriers {
  const { barriers, before } = barrierOrder(
    dependencies,
    (position) => steps[position]?.tool.contract.barrier === true,
  );
  return {
    steps: barriers.flatMap((position) => steps[position] ?? []),
    before: before.map((count, position) => (steps[position]?.goesFirst ? 0 : count)),
    ended: 0,
    held: new Map(),
  };
}

/** True while a barrier before this step has not ended. */
export function waitsForBarrier({ barriers }: EngineState, { index }: StepNode): boolean {
  return (barriers.before[index] ?? 0) > barriers.ended;
}

/** Holds a step until the barriers before it are final. */
export function holdForBarrier({ barriers }: EngineState, node: StepNode): void {
  const before = barriers.before[node.index] ?? 0;
  const held = barriers.held.get(before) ?? [];
  barriers.held.set(before, held);
  held.push(node);
}

/**
 * The held steps that no barrier blocks any more, after a step became final. A barrier releases them
 * regardless of its result.
 */
export function releaseFromBarriers({ barriers }: EngineState): StepNode[] {
  const released: StepNode[] = [];
  while (barriers.steps[barriers.ended]?.final) {
    barriers.ended++;
    released.push(...(barriers.held.get(barriers.ended) ?? []));
    barriers.held.delete(barriers.ended);
  }
  return released;
}

/** Dependencies and dependents by step position in the plan; each edge once. */
export interface Edges {
  dependencies: number[][];
  dependents: number[][];
  /**
   * Positions of steps that break a cycle, each with the number of its ignored dependencies. They start when
   * nothing else can run. Absent without such steps.
   */
  openers?: ReadonlyMap<number, number>;
}

/** Builds both directions from the dependencies. Self-edges and duplicate edges are dropped. */
export function edgesOf(dependencies: readonly (readonly number[])[]): Edges {
  const cleaned = dependencies.map((list, index) => [...new Set(list)].filter((other) => other !== index));
  const dependents: number[][] = cleaned.map(() => []);
  cleaned.forEach((list, index) => {
    for (const dependency of list) dependents[dependency]?.push(index);
  });
  return { dependencies: cleaned, dependents };
}

/**
 * The edges without cycles, so that every step can start. An acyclic graph is returned unchanged.
 * `breakCycles` of the plan package decides which edges are ignored, as for views of a plan. Undefined when
 * there is a cycle and the policy is `error`.
 */
export function withoutCycles(edges: Edges, onCycle: Policy["onCycle"]): Edges | undefined {
  if (!stuckPositions(edges.dependencies).includes(true)) return edges;
  if (onCycle === "error") return undefined;
  const broken = breakCycles(edges.dependencies, onCycle);
  return { ...edgesOf(broken.dependencies), openers: openersOf(broken, onCycle) };
}

/**
 * Weight of the heaviest path from each step to an end of the plan, its own weight included. Needs an acyclic
 * graph; O(V+E).
 * @param weight - expected duration of a step, or 1 when it is unknown
 */
export function remainingPaths(edges: Edges, weight: (index: number) => number): number[] {
  const paths = edges.dependents.map((_, index) => weight(index));
  const left = edges.dependents.map((list) => list.length);
  const ends = left.flatMap((count, index) => (count === 0 ? [index] : []));
  for (let index = ends.pop(); index !== undefined; index = ends.pop()) {
    for (const dependency of edges.dependencies[index] ?? []) {
      const through = weight(dependency) + (paths[index] ?? 0);
      if (through > (paths[dependency] ?? 0)) paths[dependency] = through;
      const remaining = (left[dependency] ?? 0) - 1;
      left[dependency] = remaining;
      if (remaining === 0) ends.push(dependency);
    }
  }
  return paths;
}
