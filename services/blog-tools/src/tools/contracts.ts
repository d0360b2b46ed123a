import type { ToolDefinition } from "@planwright/tool-kit";
import type { z } from "zod";

type Promises = Pick<ToolDefinition<z.ZodObject, z.ZodObject>, "annotations" | "contract">;

/** Contract of tools that create something new, once for each idempotency key. */
export const CREATES = {
  annotations: { destructiveHint: false, openWorldHint: false },
  contract: {
    mode: "parallel-safe",
    side_effects: true,
    idempotency: "key",
    provides: ["_id"],
    error_propagation: "fail-fast",
  },
} satisfies Promises;

/** Contract of tools that only read. */
export const READS = {
  annotations: { openWorldHint: false },
  contract: {
    mode: "parallel-safe",
    side_effects: false,
    idempotency: "natural",
    error_propagation: "partial-success",
  },
} satisfies Promises;

/**
 * Contract of tools that set fields to given values: a repeat changes nothing more. They overwrite, so they
 * are destructive.
 */
export const UPDATES = {
  annotations: { destructiveHint: true, openWorldHint: false },
  contract: {
    mode: "parallel-safe",
    side_effects: true,
    idempotency: "natural",
    error_propagation: "fail-fast",
  },
} satisfies Promises;

/**
 * Contract of tools that delete. A repeat with the same idempotency key answers "deleted", not "not found".
 * Without a key a repeat is refused, and changes nothing either.
 */
export const DELETES = {
  annotations: { destructiveHint: true, idempotentHint: true, openWorldHint: false },
  contract: {
    mode: "parallel-safe",
    side_effects: true,
    idempotency: "key",
    error_propagation: "fail-fast",
  },
} satisfies Promises;
