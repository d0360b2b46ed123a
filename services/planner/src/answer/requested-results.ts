import type { AnswerInput } from "@planwright/models";
import { toolOfStep } from "@planwright/plan";
import type { PlanRecord } from "@planwright/store";
import { redactedOutput } from "../prompts/redacted-output.ts";

/**
 * The outputs that a plan was asked for, all of them where it does not say which; undefined for those that there are not; without secrets.
 * Pure.
 */
export function requestedResults({ plan: { plan }, outputs }: PlanRecord): AnswerInput["results"] {
  const wanted = plan.outputs && new Set<string>(plan.outputs);
  return plan.steps
    .filter(({ id }) => !wanted || wanted.has(id))
    .map((step) => ({ id: step.id, tool: toolOfStep(step), output: redactedOutput(outputs.get(step.id)) }));
}
