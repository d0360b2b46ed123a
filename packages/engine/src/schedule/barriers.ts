import { barrierOrder } from "@planwright/plan";
import type { Edges } from "../order/graph.ts";
import type { Barriers, EngineState, StepNode } from "../state/engine-state.ts";

/** The barriers of a plan that has not begun. Navigation that goes first waits for none of them. */
export function createBarriers(steps: readonly StepNode[], { dependencies }: Edges): Barriers {
  const { barriers, before } = barrierOrder(
    dependencies,
    (position) => steps[position]?.tool.contract.barrier === true,
  );
  return {
    steps: barriers.flatMap((position) => steps[position] ?? []),
    before: before.map((count, position) => (steps[position]?.goesFirst ? 0 : count)),
    over: 0,
    held: new Map(),
  };
}

/** True while an unfinished barrier stands before a step that does not wait for it. */
export function isBehindBarrier({ barriers }: EngineState, { index }: StepNode): boolean {
  return (barriers.before[index] ?? 0) > barriers.over;
}

/** Keeps a step until the barriers before it are final. */
export function holdBehindBarrier({ barriers }: EngineState, node: StepNode): void {
  const before = barriers.before[node.index] ?? 0;
  const held = barriers.held.get(before) ?? [];
  barriers.held.set(before, held);
  held.push(node);
}

/**
 * The steps that no barrier holds any more after a step became final; a barrier releases them whatever its
 * result.
 */
export function releaseBehindBarrier({ barriers }: EngineState): StepNode[] {
  const released: StepNode[] = [];
  while (barriers.steps[barriers.over]?.final) {
    barriers.over++;
    released.push(...(barriers.held.get(barriers.over) ?? []));
    barriers.held.delete(barriers.over);
  }
  return released;
}
