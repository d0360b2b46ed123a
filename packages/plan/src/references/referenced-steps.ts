import type { Plan } from "../plan.ts";
import { isForEachStep, type Step, toolOfStep } from "../step.ts";
import { scanReferences } from "./scan.ts";

/**
 * Step ids of a plan by the tool they call, for tool names as roots of references. Build it once for many steps.
 */
export function stepsByTool(plan: Pick<Plan, "steps">): Map<string, string[]> {
  const steps = new Map<string, string[]>();
  for (const step of plan.steps) {
    const tool = toolOfStep(step);
    const known = steps.get(tool);
    if (known) known.push(step.id);
    else steps.set(tool, [step.id]);
  }
  return steps;
}

/** Ids of all steps of a plan, as a set. Build it once for many steps. */
export interface PlanNames {
  ids: ReadonlySet<string>;
  byTool: ReadonlyMap<string, readonly string[]>;
}

/** The names that references of a plan can start with. */
export function planNames(plan: Pick<Plan, "steps">): PlanNames {
  return { ids: new Set(plan.steps.map((step) => step.id)), byTool: stepsByTool(plan) };
}

/**
 * Ids of the steps that a step refers to in its arguments, condition and forEach, each once, in order of appearance.
 * Names of the forEach itself (its alias, `index`) and names that are no step are left out.
 */
export function referencedSteps(
  step: Step,
  plan: Pick<Plan, "steps">,
  names: PlanNames = planNames(plan),
): string[] {
  const found = new Set<string>();
  const collect = (value: unknown, hidden: readonly string[]): void => {
    for (const { root } of scanReferences(value)) {
      if (hidden.includes(root)) continue;
      if (names.ids.has(root)) found.add(root);
      else for (const id of soleStep(names, root)) found.add(id);
    }
  };
  if (isForEachStep(step)) {
    const inside = [step.forEach.as, "index"];
    collect(step.forEach.items, []);
    collect(step.forEach.do.arguments, inside);
    collect(step.forEach.key, inside);
  } else collect(step.arguments, []);
  if (step.when) {
    collect(step.when, []);
    for (const id of statusSteps(step.when)) if (names.ids.has(id)) found.add(id);
  }
  return [...found];
}

/** Steps named by `{status: [step, ...]}` anywhere in a condition. */
export function statusSteps(condition: unknown): string[] {
  if (typeof condition !== "object" || condition === null) return [];
  return Object.entries(condition).flatMap(([operator, operand]) => {
    if (operator === "status")
      return Array.isArray(operand) && typeof operand[0] === "string" ? [operand[0]] : [];
    if (operator === "not") return statusSteps(operand);
    if (operator === "all" || operator === "any")
      return Array.isArray(operand) ? operand.flatMap(statusSteps) : [];
    return [];
  });
}

function soleStep(names: PlanNames, tool: string): readonly string[] {
  const steps = names.byTool.get(tool) ?? [];
  return steps.length === 1 ? steps : [];
}
