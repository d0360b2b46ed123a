import { z } from "zod";

/**
 * Limits of one plan. A host may raise or lower the defaults; a plan stores the limits with which it was
 * accepted.
 */
export const LimitsSchema = z.strictObject({
  /** Maximum number of steps. */
  maxSteps: z.number().int().min(1).max(1_000_000).default(1_000),
  /** Maximum number of items of one forEach. */
  maxItems: z.number().int().min(1).max(1_000_000).default(10_000),
  /** Maximum size of the plan document as JSON text in UTF-8, in bytes. */
  maxBytes: z.number().int().min(1).max(1_073_741_824).default(1_048_576),
  /** Maximum nesting of objects and arrays in arguments and answers. */
  maxDepth: z.number().int().min(1).max(1_000).default(64),
});
export type Limits = z.infer<typeof LimitsSchema>;
/** Limits as input: each one is optional. */
export type LimitsInput = z.input<typeof LimitsSchema>;
