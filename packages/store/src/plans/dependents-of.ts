import {
  createToolIndex,
  type Plan,
  planGraph,
  type ToolDescriptor,
  toolContract,
  toolOfStep,
} from "@planwright/plan";

/**
 * The direct dependents of each step, by the plan and by the contracts of its tools. Pure.
 * @param catalogue - with the names of the plan: see `catalogueOfPlan`
 */
export function dependentsOf(
  plan: Plan,
  catalogue: readonly ToolDescriptor[],
): ReadonlyMap<string, readonly string[]> {
  const index = createToolIndex(catalogue);
  const contracts = new Map(
    [...new Set(plan.steps.map(toolOfStep))].flatMap((name) => {
      const tool = index.find(name);
      if (!tool) return [];
      const dependsOn = toolContract(tool).contract.dependsOn.map((dependency) => ({
        ...dependency,
        tool: index.findRelated(tool, dependency.tool)?.name ?? dependency.tool,
      }));
      return [[name, { dependsOn }] as const];
    }),
  );
  return planGraph(plan, { contracts }).dependents;
}
