import { acyclicDependencies, barrierOrder, type Plan, planGraph, toolOfStep } from "@planwright/plan";
import type { PlanGraph } from "@planwright/store";

/** The barriers of a plan: steps during which no other step runs, according to the tool pins. */
export interface PlanBarriers {
  /** Ids of the barrier steps, in order. */
  readonly ids: readonly string[];
  /** The barriers before a step in the plan. */
  before(stepId: string): readonly string[];
  /**
   * A predicate for steps that a barrier blocks: steps after the first open barrier, a barrier while other
   * steps run, and all others while a barrier runs.
   * @param firstOpen - index in `ids` of the first barrier that has not ended; -1 without one
   */
  blockedBy(firstOpen: number, running: ReadonlySet<string>): (stepId: string) => boolean;
}

const barriersOfPlans = new WeakMap<Plan, PlanBarriers | null>();

/** Undefined for a plan without barriers. Cached as long as the plan object exists. */
export function barriersOf({ plan, toolPins = [] }: PlanGraph): PlanBarriers | undefined {
  if (!plan) return undefined;
  const tools = new Set(toolPins.flatMap(({ tool, barrier }) => (barrier ? [tool] : [])));
  if (tools.size === 0) return undefined;
  let barriers = barriersOfPlans.get(plan);
  if (barriers === undefined) {
    barriers = readBarriers(plan, tools);
    barriersOfPlans.set(plan, barriers);
  }
  return barriers ?? undefined;
}

function readBarriers(plan: Plan, tools: ReadonlySet<string>): PlanBarriers | null {
  const graph = planGraph(plan);
  const { onCycle } = plan.policy;
  if (graph.cycle && onCycle === "error") return null;
  const dependencies = [...acyclicDependencies(graph, onCycle)];
  const positions = new Map(dependencies.map(([id], position) => [id, position]));
  const barrierSteps = new Set(plan.steps.flatMap((step) => (tools.has(toolOfStep(step)) ? [step.id] : [])));
  const { barriers, before } = barrierOrder(
    dependencies.map(([, list]) => list.flatMap((id) => positions.get(id) ?? [])),
    (position) => barrierSteps.has(dependencies[position]?.[0] ?? ""),
  );
  const ids = barriers.flatMap((position) => dependencies[position]?.[0] ?? []);
  const countBefore = (stepId: string) => before[positions.get(stepId) ?? -1] ?? 0;
  return {
    ids,
    before: (stepId) => ids.slice(0, countBefore(stepId)),
    blockedBy(firstOpen, running) {
      const isBarrierRunning = ids.some((id) => running.has(id));
      return (stepId) =>
        (firstOpen !== -1 && countBefore(stepId) > firstOpen) ||
        (isBarrierRunning && !running.has(stepId)) ||
        (barrierSteps.has(stepId) && running.size > 0 && !running.has(stepId));
    },
  };
}
