import type { ContractDeclaration, ToolAnnotations } from "@planwright/plan";
import type { z } from "zod";
import type { BlogDatabase } from "../database/open-blog-database.ts";

/** Dependencies of a tool for one call. */
export interface ToolContext {
  database: BlogDatabase;
  /** Idempotency key of the caller, if it gave one. */
  key: string | undefined;
}

/** One tool: its descriptor for callers, its contract for planners, and its implementation. */
export interface BlogTool {
  name: string;
  title: string;
  description: string;
  input: z.ZodObject;
  output: z.ZodObject;
  annotations: ToolAnnotations;
  contract: ContractDeclaration;
  /**
   * @param input - as the input schema parsed it
   * @throws {ToolRefusal} when the call is refused; nothing was changed
   */
  run(input: unknown, context: ToolContext): Promise<Record<string, unknown>>;
}

type Definition<Input extends z.ZodObject, Output extends z.ZodObject> = Omit<
  BlogTool,
  "input" | "output" | "run"
> & {
  input: Input;
  output: Output;
  run(input: z.output<Input>, context: ToolContext): Promise<z.input<Output>>;
};

/** Connects the types of a tool's schemas with its implementation: `run` gets the parsed input. */
export function defineTool<Input extends z.ZodObject, Output extends z.ZodObject>(
  tool: Definition<Input, Output>,
): BlogTool {
  return { ...tool, run: (input, context) => tool.run(input as z.output<Input>, context) };
}

/** Contract of tools that create something new, once for each idempotency key. */
export const CREATES = {
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  contract: {
    mode: "parallel-safe",
    side_effects: true,
    idempotency: "key",
    provides: ["_id"],
    error_propagation: "fail-fast",
  },
} satisfies Pick<BlogTool, "annotations" | "contract">;

/** Contract of tools that only read. */
export const READS = {
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  contract: {
    mode: "parallel-safe",
    side_effects: false,
    idempotency: "natural",
    error_propagation: "partial-success",
  },
} satisfies Pick<BlogTool, "annotations" | "contract">;

/**
 * Contract of tools that set fields to given values: a repeat changes nothing more. They overwrite, so they
 * are destructive.
 */
export const UPDATES = {
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  contract: {
    mode: "parallel-safe",
    side_effects: true,
    idempotency: "natural",
    error_propagation: "fail-fast",
  },
} satisfies Pick<BlogTool, "annotations" | "contract">;

/**
 * Contract of tools that delete. A repeat with the same idempotency key answers "deleted", not "not found".
 */
export const DELETES = {
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  contract: {
    mode: "parallel-safe",
    side_effects: true,
    idempotency: "key",
    error_propagation: "fail-fast",
  },
} satisfies Pick<BlogTool, "annotations" | "contract">;
