/** The dependency edges of a plan. */
import {
  DependencyCycleError,
  findRelatedTool,
  type Plan,
  planGraph,
  referencedSteps,
  type ToolDescriptor,
} from "@planwright/plan";
import { type Edges, edgesOf, remainingPaths, withoutCycles } from "../order/graph.ts";
import type { ToolSlot } from "../state/engine-state.ts";
import { goesFirst } from "./tool-slots.ts";

/**
 * Dependencies by step position: explicit, by reference, and by contract. Navigation that goes first has no
 * explicit dependencies.
 * @throws {DependencyCycleError} when steps wait for each other and the policy is `onCycle: "error"`
 */
export function edgesOfPlan(plan: Plan, slots: readonly ToolSlot[], tools: readonly ToolDescriptor[]): Edges {
  const positions = new Map(plan.steps.map((step, index) => [step.id, index]));
  const { dependencies, cycle } = planGraph(plan);
  const lists = plan.steps.map((step, index) => {
    const all = dependencies.get(step.id) ?? [];
    const references = () => new Set(referencedSteps(step, plan));
    const kept = goesFirst(plan, slots[index]) ? all.filter((id) => references().has(id)) : all;
    return kept.flatMap((id) => positions.get(id) ?? []);
  });
  const acyclic = withoutCycles(edgesOf(lists), plan.policy.onCycle);
  if (!acyclic) throw new DependencyCycleError(cycle ?? []);
  return withContractDependencies(plan, slots, tools, acyclic);
}

/**
 * Adds dependencies that contracts require: a step whose tool depends on another tool comes after the steps
 * that call that tool, unless it depends on one of them already. When the two would form a cycle, the plan
 * wins.
 */
function withContractDependencies(
  plan: Plan,
  slots: readonly ToolSlot[],
  tools: readonly ToolDescriptor[],
  edges: Edges,
): Edges {
  if (slots.every(({ contract }) => contract.dependsOn.length === 0)) return edges;
  const users = new Map<string, number[]>();
  for (const [index, { name }] of slots.entries()) {
    const list = users.get(name) ?? [];
    list.push(index);
    users.set(name, list);
  }
  const requiredTools = new Map([...new Set(slots)].map((slot) => [slot, requiredToolsOf(slot, tools)]));
  const required = slots.map((slot, index) => {
    if (goesFirst(plan, slot)) return [];
    const existing = new Set(edges.dependencies[index]);
    return (requiredTools.get(slot) ?? []).flatMap((tool) => {
      const providers = users.get(tool) ?? [];
      return providers.some((provider) => existing.has(provider)) ? [] : providers;
    });
  });
  if (required.every((list) => list.length === 0)) return edges;
  const both = (allow: (provider: number, index: number) => boolean): Edges => ({
    ...edgesOf(
      edges.dependencies.map((list, index) => [
        ...list,
        ...(required[index] ?? []).filter((provider) => allow(provider, index)),
      ]),
    ),
    ...(edges.openers ? { openers: edges.openers } : {}),
  });
  const depths = remainingPaths(edges, () => 1);
  const isEarlier = (provider: number, index: number) => (depths[provider] ?? 0) > (depths[index] ?? 0);
  return (
    withoutCycles(
      both(() => true),
      "error",
    ) ?? both(isEarlier)
  );
}

/** Names of the tools that a tool's contract depends on. */
function requiredToolsOf({ descriptor, contract }: ToolSlot, tools: readonly ToolDescriptor[]): string[] {
  if (!descriptor) return [];
  return contract.dependsOn.map(({ tool }) => findRelatedTool(tools, descriptor, tool)?.name ?? tool);
}
