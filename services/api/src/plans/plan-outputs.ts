import { isTerminalPlanStatus, type JsonValue } from "@planwright/plan";
import type { PlanDocument, StepDocument } from "@planwright/store";

/** Outputs by step id. */
export type PlanOutputs = { [stepId: string]: JsonValue };

/**
 * The outputs of a plan that is over, from its steps, for those that are too large for its own document: the requested ones, or all; of those only the completed. Null for a
 * plan that is not over or never ran. Pure.
 * @param recorded - steps with their outputs
 */
export function outputsOfSteps(plan: PlanDocument, recorded: readonly StepDocument[]): PlanOutputs | null {
  if (!plan.plan || plan.epoch === 0 || !isTerminalPlanStatus(plan.status)) return null;
  const completed = recorded.filter(({ item, status }) => item === null && status === "COMPLETED");
  const outputOf = new Map(completed.map(({ stepId, output }) => [stepId, output]));
  const requested = plan.plan.outputs ?? plan.plan.steps.map(({ id }) => id);
  const found = requested.flatMap((id): [string, JsonValue][] => {
    const output = outputOf.get(id);
    return output === undefined ? [] : [[id, output]];
  });
  return Object.fromEntries(found);
}
