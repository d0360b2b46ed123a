import { z } from "zod";
import { LimitsSchema } from "../policy/limits.ts";
import { PolicySchema } from "../policy/policy.ts";
import { OutputsSchema } from "./outputs-schema.ts";
import { StepSchema } from "./step.ts";

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
