import { barrierOrder } from "@planwright/plan";
import type { Barriers, EngineState, StepNode } from "../state/engine-state.ts";
import type { Edges } from "./edges.ts";

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
