import type { AnswerInput } from "@planwright/models";
import {
  type JsonObject,
  outputParts,
  outputSteps,
  type Plan,
  resolveOutputs,
  scanReferences,
  toolOfStep,
} from "@planwright/plan";
import type { PlanRecord } from "@planwright/store";
import { withoutSecrets } from "../prompts/without-secrets.ts";

/**
 * The requested outputs of a plan, or all outputs if the plan does not request any. An output that does not
 * exist is undefined. Without secrets. Pure.
 */
export function requestedResults({ plan: { plan }, outputs }: PlanRecord): AnswerInput["results"] {
  const parts = outputParts(plan.outputs);
  if (parts) return partResults(plan, parts, outputs);
  const ids = outputSteps(plan.outputs);
  const wanted = ids && new Set<string>(ids);
  return plan.steps
    .filter(({ id }) => !wanted || wanted.has(id))
    .map((step) => {
      const output = outputs.get(step.id);
      const shown = output === undefined ? undefined : withoutSecrets(output);
      return { id: step.id, tool: toolOfStep(step), output: shown };
    });
}

/** Outputs composed of parts, by name, each with the tools of the steps that it refers to. */
function partResults(plan: Plan, parts: JsonObject, known: PlanRecord["outputs"]): AnswerInput["results"] {
  const { outputs } = resolveOutputs(plan, known);
  return Object.entries(parts).map(([id, part]) => {
    const sources = new Set<string>(scanReferences(part).map(({ root }) => root));
    const tools = plan.steps.filter((step) => sources.has(step.id)).map(toolOfStep);
    const output = outputs[id];
    const shown = output === undefined ? undefined : withoutSecrets(output);
    return { id, tool: [...new Set(tools)].join(", "), output: shown };
  });
}
