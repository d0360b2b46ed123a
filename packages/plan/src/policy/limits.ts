import { z } from "zod";

/**
 * Bounds of one plan. A host may raise or lower the defaults; a plan stores the ones it was accepted under.
 */
export const LimitsSchema = z.strictObject({
  /** Steps in a plan. */
  maxSteps: z.number().int().min(1).max(1_000_000).default(1_000),
  /** Items of one forEach. */
  maxItems: z.number().int().min(1).max(1_000_000).default(10_000),
  /** Size of the plan document as JSON text in UTF-8. */
  maxBytes: z.number().int().min(1).max(1_073_741_824).default(1_048_576),
  /** Nesting of objects and arrays in arguments and answers. */
  maxDepth: z.number().int().min(1).max(1_000).default(64),
});
export type Limits = z.infer<typeof LimitsSchema>;
/** Limits as a caller gives them: each one optional. */
export type LimitsInput = z.input<typeof LimitsSchema>;
