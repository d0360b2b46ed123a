import type { AnswerInput } from "@planwright/models";
import { toolOfStep } from "@planwright/plan";
import type { PlanRecord } from "@planwright/store";
import { withoutSecrets } from "../prompts/without-secrets.ts";

/**
 * The outputs that a plan was asked for, all of them where it does not say which; undefined for those that there are not; without secrets.
 * Pure.
 */
export function requestedResults({ plan: { plan }, outputs }: PlanRecord): AnswerInput["results"] {
  const wanted = plan.outputs && new Set<string>(plan.outputs);
  return plan.steps
    .filter(({ id }) => !wanted || wanted.has(id))
    .map((step) => {
      const output = outputs.get(step.id);
      const shown = output === undefined ? undefined : withoutSecrets(output);
      return { id: step.id, tool: toolOfStep(step), output: shown };
    });
}
