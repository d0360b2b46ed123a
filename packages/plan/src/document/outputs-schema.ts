import { z } from "zod";
import { type JsonObject, JsonValueSchema } from "../json/json.ts";
import { StepIdSchema } from "./ids.ts";

/** Step ids, or parts, that outputs may name at most. */
export const MAX_OUTPUTS = 10_000;
export const MAX_OUTPUT_PARTS = 1_000;

/** Name of an output that is made of parts: 1 to 128 characters, none of them a control character. */
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

/** Parts by name, where outputs are made of parts; undefined for step ids, and for none of either. */
export function outputParts(outputs: Outputs | undefined): JsonObject | undefined {
  return outputs === undefined || Array.isArray(outputs) || Object.keys(outputs).length === 0
    ? undefined
    : outputs;
}

/** The steps asked for, where outputs name steps; undefined for parts, and where all are meant. */
export function outputSteps(outputs: Outputs | undefined): readonly string[] | undefined {
  return Array.isArray(outputs) && outputs.length > 0 ? outputs : undefined;
}
