import { z } from "zod";
import { StepIdSchema } from "./ids.ts";
import { LimitsSchema } from "./limits.ts";
import { PolicySchema } from "./policy.ts";
import { StepSchema } from "./step.ts";

/** The plan document: an immutable graph of steps. Unknown fields are refused. */
export const PlanSchema = z.strictObject({
  formatVersion: z.literal(1).default(1),
  steps: z.array(StepSchema).min(1),
  /** Steps whose outputs were asked for; absent means all. */
  outputs: z.array(StepIdSchema).max(10_000).optional(),
  policy: PolicySchema.prefault({}),
  limits: LimitsSchema.prefault({}),
});
export type Plan = z.infer<typeof PlanSchema>;
