import { z } from "zod";
import { JsonObjectSchema, type JsonValue, JsonValueSchema } from "../json/json.ts";
import { FailureModeSchema } from "../policy/policy.ts";
import { StepIdSchema, ToolNameSchema } from "./ids.ts";

/** How often and when a failed attempt is repeated. Waits have full jitter. */
export const RetryPolicySchema = z.strictObject({
  /** Counts the first call. */
  maxAttempts: z.number().int().min(1).max(20).default(3),
  initialMs: z.number().int().min(0).max(600_000).default(1_000),
  maxMs: z.number().int().min(0).max(3_600_000).default(30_000),
});
export type RetryPolicy = z.infer<typeof RetryPolicySchema>;

/** Operand of a comparison: a literal, or a text holding references. */
const OperandSchema = JsonValueSchema;
const COMPARISONS = ["eq", "ne", "lt", "lte", "gt", "gte", "in", "contains", "startsWith"] as const;

/**
 * A JSON condition, with exactly one operator in each object: `{all: [..]}`, `{any: [..]}`, `{not: c}`, `{eq:
 * [a, b]}` (likewise ne lt lte gt gte in contains startsWith), `{exists: "<<s.f>>"}`, `{empty: "<<s.f>>"}`,
 * `{status: ["s1", "FAILED"]}`.
 */
export type Condition =
  | { all: Condition[] }
  | { any: Condition[] }
  | { not: Condition }
  | { eq: [JsonValue, JsonValue] }
  | { ne: [JsonValue, JsonValue] }
  | { lt: [JsonValue, JsonValue] }
  | { lte: [JsonValue, JsonValue] }
  | { gt: [JsonValue, JsonValue] }
  | { gte: [JsonValue, JsonValue] }
  | { in: [JsonValue, JsonValue] }
  | { contains: [JsonValue, JsonValue] }
  | { startsWith: [JsonValue, JsonValue] }
  | { exists: JsonValue }
  | { empty: JsonValue }
  | { status: [string, string] };

const comparison = (name: (typeof COMPARISONS)[number]) =>
  z.strictObject({ [name]: z.tuple([OperandSchema, OperandSchema]) });

/** Accepts a {@link Condition}. */
export const ConditionSchema: z.ZodType<Condition> = z.lazy(() =>
  z.union([
    z.strictObject({ all: z.array(ConditionSchema).max(100) }),
    z.strictObject({ any: z.array(ConditionSchema).max(100) }),
    z.strictObject({ not: ConditionSchema }),
    ...COMPARISONS.map(comparison),
    z.strictObject({ exists: OperandSchema }),
    z.strictObject({ empty: OperandSchema }),
    z.strictObject({ status: z.tuple([StepIdSchema, z.string().max(32)]) }),
  ]),
) as z.ZodType<Condition>;

/** One call for each item of a list. The output is always the envelope of {@link ForEachOutput}. */
export const ForEachSchema = z.strictObject({
  /** A list, or a text that is exactly one reference to a list. */
  items: z.union([z.array(JsonValueSchema), z.string().max(4_096)]),
  /** Name of the current item inside `do.arguments`: `<<item.id>>`; `<<index>>` is its position from 0. */
  as: StepIdSchema.default("item"),
  /** A reference that names each item, such as `<<item.id>>`; default is its index. Must be unique. */
  key: z.string().max(4_096).optional(),
  /** Maximum number of concurrent items; the limits of the tool and the plan apply too. */
  concurrency: z.number().int().min(1).max(256).optional(),
  /**
   * `stop`: the first failed item stops new ones and fails the step; `collect`: failures are entries of the
   * envelope. Absent: by the tool's contract, `stop` for `error_propagation: "fail-fast"` and `collect` for
   * `"partial-success"`.
   */
  errors: z.enum(["stop", "collect"]).optional(),
  /**
   * The step fails with fewer successes than this: a fraction in (0, 1) or a count, of the items that `when`
   * lets through. Absent: 1. Without such an item none is needed.
   */
  minSuccess: z.number().min(0).max(1_000_000).optional(),
  /**
   * Decided for each item before anything is called; it may name the item, as `do.arguments` does. An item for
   * which it is false is SKIPPED: it is not called, is no entry of the envelope, and does not count for
   * `minSuccess`.
   */
  when: ConditionSchema.optional(),
  do: z.strictObject({ tool: ToolNameSchema, arguments: JsonObjectSchema.default({}) }),
});
export type ForEach = z.infer<typeof ForEachSchema>;

const stepCommon = {
  id: StepIdSchema,
  /**
   * Steps that must be final, and whose result the policy must accept, before this one starts. References add
   * to it.
   */
  dependsOn: z.array(StepIdSchema).max(1_000).default([]),
  /** When it is false, the step is SKIPPED. */
  when: ConditionSchema.optional(),
  retry: RetryPolicySchema.optional(),
  /** Timeout of one call of this step, in milliseconds; overrides the policy. See `callTimeout`. */
  timeoutMs: z.number().int().min(1).max(3_600_000).optional(),
  /** Overrides the plan's `onStepFailure` for a failure of this step. */
  onError: FailureModeSchema.optional(),
  /** True: an operator must approve the resolved arguments before the call. */
  approval: z.boolean().optional(),
};

/** A step that is one tool call. */
export const CallStepSchema = z.strictObject({
  ...stepCommon,
  tool: ToolNameSchema,
  arguments: JsonObjectSchema.default({}),
});
/** A step that is one call for each item of a list. */
export const ForEachStepSchema = z.strictObject({ ...stepCommon, forEach: ForEachSchema });

/** One step of a plan: a tool call, or a forEach. */
export const StepSchema = z.union([CallStepSchema, ForEachStepSchema]);
export type CallStep = z.infer<typeof CallStepSchema>;
export type ForEachStep = z.infer<typeof ForEachStepSchema>;
export type Step = z.infer<typeof StepSchema>;

/** True for a step that is one call for each item of a list. */
export function isForEachStep(step: Step): step is ForEachStep {
  return "forEach" in step;
}

/** The tool that a step calls. */
export function toolOfStep(step: Step): string {
  return isForEachStep(step) ? step.forEach.do.tool : step.tool;
}

/** The unresolved arguments of a step's call; for a forEach those of `do`. */
export function argumentsOfStep(step: Step): Record<string, JsonValue> {
  return isForEachStep(step) ? step.forEach.do.arguments : step.arguments;
}

/** A condition of a step, with the path to it. */
export interface PlacedCondition {
  condition: Condition;
  keys: readonly string[];
}

/** The conditions of a step: its own, and that of the items of its forEach, which may name the item. */
export function conditionsOf(step: {
  when?: Condition | undefined;
  forEach?: Pick<ForEach, "when"> | undefined;
}): PlacedCondition[] {
  const { when, forEach } = step;
  return [
    ...(when ? [{ condition: when, keys: ["when"] }] : []),
    ...(forEach?.when ? [{ condition: forEach.when, keys: ["forEach", "when"] }] : []),
  ];
}

/** Output of a forEach, in input order. Items that its `when` skipped are only counted. */
export interface ForEachOutput {
  results: ForEachResult[];
  /** `skipped` is there when the forEach has a `when`. */
  summary: { ok: number; error: number; skipped?: number };
}
/** One entry of the envelope. */
export interface ForEachResult {
  index: number;
  key: string;
  status: "ok" | "error" | "skipped" | "in_doubt";
  data?: JsonValue;
  error?: { code: string; message: string };
}
