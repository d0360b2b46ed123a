import { z } from "zod";
import { stringifyExactJson } from "../json/exact-json.ts";
import { type JsonObject, JsonValueSchema, jsonSchemaOf } from "../json/json.ts";
import { LimitsSchema, PolicySchema } from "./policy.ts";
import { type Step, StepIdSchema, StepSchema } from "./step.ts";

/** Maximum number of step ids in outputs. */
export const MAX_OUTPUTS = 10_000;
export const MAX_OUTPUT_PARTS = 1_000;

/** Name of a part of the outputs: 1 to 128 characters, without control characters. */
export const OutputNameSchema = z.string().regex(/^[^\p{Cc}\p{Surrogate}]{1,128}$/u);

/**
 * The outputs of a plan: ids of steps, or parts by name, each a value with references to steps. An empty list
 * or no parts mean all steps.
 */
export const OutputsSchema = z.union([
  z.array(StepIdSchema).max(MAX_OUTPUTS),
  z
    .record(OutputNameSchema, JsonValueSchema)
    .refine((parts) => Object.keys(parts).length <= MAX_OUTPUT_PARTS, {
      message: `at most ${MAX_OUTPUT_PARTS} outputs are allowed`,
    }),
]);
export type Outputs = z.infer<typeof OutputsSchema>;

/** Parts by name; undefined when outputs are step ids or empty. */
export function outputParts(outputs: Outputs | undefined): JsonObject | undefined {
  return outputs === undefined || Array.isArray(outputs) || Object.keys(outputs).length === 0
    ? undefined
    : outputs;
}

/** The requested steps; undefined when outputs are parts, or all steps are meant. */
export function outputSteps(outputs: Outputs | undefined): readonly string[] | undefined {
  return Array.isArray(outputs) && outputs.length > 0 ? outputs : undefined;
}

/** The plan document: an immutable graph of steps. Unknown fields are refused. */
export const PlanSchema = z.strictObject({
  formatVersion: z.literal(1).default(1),
  steps: z.array(StepSchema).min(1),
  /**
   * The requested outputs: outputs of steps, or named values built from them; absent or empty means the
   * outputs of all steps.
   */
  outputs: OutputsSchema.optional(),
  /**
   * Literal texts that look like a reference, a placeholder or "no value" (also the empty text): the request
   * contains them, or they were escaped.
   */
  literals: z.array(z.string().max(300)).max(1_000).optional(),
  policy: PolicySchema.prefault({}),
  limits: LimitsSchema.prefault({}),
});
export type Plan = z.infer<typeof PlanSchema>;

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
