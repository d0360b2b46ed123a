import { isTerminalPlanStatus, type JsonValue, resolveOutputs } from "@planwright/plan";
import type { PlanDocument, StepDocument } from "@planwright/store";

/** Outputs by step id, or by the name of the part. */
export type PlanOutputs = { [name: string]: JsonValue };

/**
 * The outputs of a plan that is over, from its steps, for those that are too large for its own document: the requested ones, or all; of those only the completed. Null for a
 * plan that is not over or never ran. Pure.
 * @param recorded - steps with their outputs
 */
export function outputsOfSteps(plan: PlanDocument, recorded: readonly StepDocument[]): PlanOutputs | null {
  if (!plan.plan || plan.epoch === 0 || !isTerminalPlanStatus(plan.status)) return null;
  const completed = recorded.filter(({ item, status }) => item === null && status === "COMPLETED");
  const outputOf = new Map(completed.map(({ stepId, output }) => [stepId as string, output]));
  return resolveOutputs(plan.plan, outputOf).outputs;
}
