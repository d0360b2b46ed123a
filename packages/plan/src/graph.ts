import type { Plan } from "./plan.ts";
import { planNames, referencedSteps } from "./references/referenced-steps.ts";

/** Who depends on whom, by step id, explicit and by reference. */
export interface PlanGraph {
  /** Step ids that a step depends on, each once; steps that are not in the plan are left out. */
  dependencies: ReadonlyMap<string, readonly string[]>;
  /** The same the other way round, in plan order. */
  dependents: ReadonlyMap<string, readonly string[]>;
  /** Step ids in an order in which dependencies come first, plan order among equals; steps of cycles are left out. */
  order: readonly string[];
  /** One cycle, each depending on the next, the last on the first; absent when there is none. */
  cycle?: readonly string[] | undefined;
}

/** The dependency graph of a plan, in time linear in steps and dependencies. */
export function planGraph(plan: Pick<Plan, "steps">): PlanGraph {
  const names = planNames(plan);
  const dependencies = new Map<string, string[]>();
  const dependents = new Map<string, string[]>(plan.steps.map((step) => [step.id, []]));
  for (const step of plan.steps) {
    const wanted = new Set([...step.dependsOn, ...referencedSteps(step, plan, names)]);
    const known = [...wanted].filter((id) => names.ids.has(id));
    dependencies.set(step.id, known);
    for (const id of known) dependents.get(id)?.push(step.id);
  }
  const order = topologicalOrder(plan, dependencies, dependents);
  const cycle = order.length === dependencies.size ? undefined : findCycle(dependencies, new Set(order));
  return { dependencies, dependents, order, ...(cycle ? { cycle } : {}) };
}

/** Kahn's algorithm with a queue: steps come out level by level, plan order inside a level. */
function topologicalOrder(
  plan: Pick<Plan, "steps">,
  dependencies: ReadonlyMap<string, readonly string[]>,
  dependents: ReadonlyMap<string, readonly string[]>,
): string[] {
  const open = new Map<string, number>();
  const order: string[] = [];
  for (const step of plan.steps) {
    const count = dependencies.get(step.id)?.length ?? 0;
    open.set(step.id, count);
    if (count === 0) order.push(step.id);
  }
  // `order` grows while it is walked.
  for (const id of order) {
    for (const dependent of dependents.get(id) ?? []) {
      const left = (open.get(dependent) ?? 0) - 1;
      open.set(dependent, left);
      if (left === 0) order.push(dependent);
    }
  }
  return order;
}

/** Walks back through dependencies that are not ordered: such a walk must come round. */
function findCycle(
  dependencies: ReadonlyMap<string, readonly string[]>,
  ordered: ReadonlySet<string>,
): string[] | undefined {
  let current = [...dependencies.keys()].find((id) => !ordered.has(id));
  const positions = new Map<string, number>();
  const walk: string[] = [];
  while (current !== undefined) {
    const before = positions.get(current);
    if (before !== undefined) return walk.slice(before);
    positions.set(current, walk.length);
    walk.push(current);
    current = dependencies.get(current)?.find((id) => !ordered.has(id));
  }
  return undefined;
}

/** Steps in waves: each holds the steps whose dependencies are all in earlier ones. A view for reports; execution has no waves. */
export function planWaves(plan: Pick<Plan, "steps">): string[][] {
  const { dependencies, order } = planGraph(plan);
  const waveOf = new Map<string, number>();
  const waves: string[][] = [];
  for (const id of order) {
    const wave = (dependencies.get(id) ?? []).reduce(
      (latest, other) => Math.max(latest, (waveOf.get(other) ?? 0) + 1),
      0,
    );
    waveOf.set(id, wave);
    (waves[wave] ??= []).push(id);
  }
  return waves;
}

/** Step ids in an order in which dependencies come first. Steps of a cycle are left out. */
export function executionOrder(plan: Pick<Plan, "steps">): string[] {
  return [...planGraph(plan).order];
}
