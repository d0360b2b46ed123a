import { argumentsOfStep, type Plan, planGraph, stringifyExactJson, toolOfStep } from "@planwright/plan";

/** A step in the form of the older API: arguments as JSON text, one tool as its dependency. */
export interface SelectedTool {
  stepId: string;
  toolName: string;
  name: string;
  parameters: string;
  dependsOn: string | null;
}

/**
 * The steps of a plan for older clients, in plan order. They support one dependency for each tool: the last
 * one in the plan, which in a chain implies all others.
 */
export function selectedTools(plan: Plan | null): SelectedTool[] {
  if (!plan) return [];
  const { dependencies } = planGraph(plan);
  return plan.steps.map((step) => {
    const wanted = new Set(dependencies.get(step.id));
    const last = plan.steps.findLast(({ id }) => wanted.has(id));
    const toolName = toolOfStep(step);
    return {
      stepId: step.id,
      toolName,
      name: toolName,
      parameters: stringifyExactJson(argumentsOfStep(step)),
      dependsOn: last ? toolOfStep(last) : null,
    };
  });
}

/** Tools in an order in which their steps can run; steps of a cycle, which cannot, come last. */
export function toolOrder(plan: Plan | null): string[] {
  if (!plan) return [];
  const { order } = planGraph(plan);
  const toolOf = new Map(plan.steps.map((step) => [step.id, toolOfStep(step)]));
  const ordered = new Set([...order, ...toolOf.keys()]);
  return [...ordered].flatMap((id) => toolOf.get(id) ?? []);
}
