import { stringifyExactJson } from "../json/exact-json.ts";
import type { JsonObject } from "../json/json.ts";
import { jsonSchemaOf } from "../json/json-schema.ts";
import { type Plan, PlanSchema } from "./plan.ts";
import type { Step } from "./step.ts";

/**
 * The canonical text of a plan: indented JSON with fields in one order. Equal plans give equal text, and
 * `parsePlan(printPlan(plan), { limits: plan.limits })` returns the plan.
 */
export function printPlan(plan: Plan): string {
  const { formatVersion, steps, outputs, literals, policy, limits } = plan;
  return stringifyExactJson(
    {
      formatVersion,
      steps: steps.map(inOrder),
      outputs,
      literals,
      policy: sorted(policy),
      limits: sorted(limits),
    },
    2,
  );
}

function inOrder(step: Step) {
  const { id, dependsOn, when, retry, timeoutMs, onError, approval } = step;
  const call = "forEach" in step ? { forEach: step.forEach } : { tool: step.tool, arguments: step.arguments };
  return { id, ...call, dependsOn, when, retry, timeoutMs, onError, approval };
}

function sorted(options: object): object {
  return Object.fromEntries(Object.entries(options).toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

/**
 * JSON Schema 2020-12 of the plan document in its canonical form, as input: fields with a default may be left
 * out.
 */
export function planJsonSchema(): JsonObject {
  return jsonSchemaOf(PlanSchema);
}
