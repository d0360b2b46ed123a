import { z } from "zod";
import { type JsonObject, JsonValueSchema } from "../json/json.ts";
import { StepIdSchema } from "./ids.ts";

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
