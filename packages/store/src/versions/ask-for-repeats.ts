import type { Effect, StepRun } from "@planwright/engine";
import { actsWhenRepeated, type Plan, type ToolDescriptor, toolOfStep } from "@planwright/plan";
import type { StepsToRerun } from "./carry-over.ts";

/**
 * The plan of a rerun. Some steps with side effects that completed, or completed for some items, run again
 * only because a list that they used has other results now. They get `approval`, unless the caller accepted the
 * repeat: an operator sees the new arguments before the effect is repeated. Pure.
 * @param tools - with the names of the plan; an unknown tool counts as one with side effects
 */
export function askForRepeats(
  plan: Plan,
  units: readonly (Pick<StepRun, "stepId" | "status"> & Parameters<typeof mayHaveActed>[0])[],
  { again, fromScratch, named }: StepsToRerun,
  accepted: ReadonlySet<string>,
  tools: readonly ToolDescriptor[],
): Plan {
  const done = new Set(units.filter(({ status }) => status === "COMPLETED").map(({ stepId }) => stepId));
  const acted = new Set(units.filter(mayHaveActed).map(({ stepId }) => stepId));
  const isImplied = (id: string): boolean =>
    acted.has(id) && again.has(id) && fromScratch.has(id) && !named.has(id) && !accepted.has(id);
  return withApprovals(plan, new Set([...done].filter(isImplied)), tools);
}

/** False for a unit that was never called, or whose calls had no effect: another call repeats nothing. Pure. */
export function mayHaveActed({
  attempts,
  effect,
}: {
  attempts: readonly unknown[];
  effect: Effect | null;
}): boolean {
  return attempts.length > 0 && effect !== "none";
}

/** The plan, in which these steps need an operator's approval if a repeat of them acts again. Pure. */
export function withApprovals(plan: Plan, ids: ReadonlySet<string>, tools: readonly ToolDescriptor[]): Plan {
  const known = new Map(tools.map((tool) => [tool.name, tool]));
  const steps = plan.steps.map((step) =>
    ids.has(step.id) && actsWhenRepeated(known.get(toolOfStep(step))) ? { ...step, approval: true } : step,
  );
  return steps.some((step, index) => step !== plan.steps[index]) ? { ...plan, steps } : plan;
}
