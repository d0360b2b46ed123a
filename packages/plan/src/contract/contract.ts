import { z } from "zod";
import { type JsonObject, JsonObjectSchema, jsonSchemaOf } from "../json/json.ts";

/** A tool that must run before: its name, optionally with the required fields of its output. */
const DependencySchema = z.union([
  z
    .string()
    .min(1)
    .max(257)
    .transform((tool) => ({ tool, required_fields: [] as string[] })),
  z.object({
    tool: z.string().min(1).max(257),
    required_fields: z.array(z.string().min(1).max(256)).max(100).default([]),
  }),
]);

/**
 * How the bound of the wait grows with each attempt: it doubles, grows by `initial_ms`, or stays the same.
 */
const BackoffStrategySchema = z.enum(["exponential", "linear", "fixed"]);
export type BackoffStrategy = z.infer<typeof BackoffStrategySchema>;

/**
 * A contract as tools declare it (snake case, every field optional), in `_meta["x-orchestration"]`, at the
 * top level of the descriptor, in `inputSchema["x-orchestration"]`, or as an operator's override. Unknown
 * fields are ignored. `sequential: true` and `parallel_safe: false` mean `barrier: true`; `dependsOn` and
 * `dependencies` mean `depends_on`.
 */
export const ContractDeclarationSchema = z.object({
  mode: z.enum(["parallel-safe", "sequential-only", "fan-out-bounded", "dependent"]).optional(),
  max_concurrency: z.number().int().min(1).max(10_000).optional(),
  depends_on: z.array(DependencySchema).max(100).optional(),
  dependsOn: z.array(DependencySchema).max(100).optional(),
  dependencies: z.array(DependencySchema).max(100).optional(),
  barrier: z.boolean().optional(),
  sequential: z.boolean().optional(),
  parallel_safe: z.boolean().optional(),
  navigation: z.boolean().optional(),
  provides: z.array(z.string().min(1).max(256)).max(1_000).optional(),
  backoff: z
    .object({
      max_attempts: z.number().int().min(1).max(20).optional(),
      initial_ms: z.number().int().min(0).max(600_000).optional(),
      max_ms: z.number().int().min(0).max(3_600_000).optional(),
      strategy: BackoffStrategySchema.optional(),
    })
    .optional(),
  error_propagation: z.enum(["fail-fast", "partial-success"]).optional(),
  errors: z.enum(["unknown", "no-effect"]).optional(),
  batch: z
    .object({
      param: z.string().min(1).max(256),
      max: z.number().int().min(2).max(10_000),
      result_path: z.string().max(1_024).optional(),
    })
    .optional(),
  side_effects: z.boolean().optional(),
  idempotency: z.enum(["none", "natural", "key"]).optional(),
  /** Class V: the read-only tool that reports whether a call happened, and its arguments. */
  lookup: z
    .object({
      tool: z.string().min(1).max(257),
      arguments: JsonObjectSchema.default({}),
      /**
       * A promise of the tool, in milliseconds: a call that the lookup does not find this long after the call
       * was abandoned will never take effect. Without the promise "not found" proves nothing, because the
       * call may still arrive.
       */
      settle_ms: z.number().int().min(0).max(600_000).optional(),
    })
    .optional(),
  timeout_ms: z.number().int().min(1).max(3_600_000).optional(),
  rate_limit: z
    .object({ max: z.number().int().min(1).max(1_000_000), per_ms: z.number().int().min(1).max(86_400_000) })
    .optional(),
  requires_approval: z.boolean().optional(),
  scope: z.enum(["plan", "tenant", "global"]).optional(),
});
export type ContractDeclaration = z.infer<typeof ContractDeclarationSchema>;

/** The effective promises of a tool, after precedence and trust: every field is decided. */
export interface ToolContract {
  mode: "parallel-safe" | "sequential-only" | "fan-out-bounded" | "dependent";
  /**
   * Maximum number of concurrent calls of this tool inside `scope`; 1 for sequential-only. Absent: only the
   * plan's limit.
   */
  maxConcurrency?: number | undefined;
  dependsOn: { tool: string; requiredFields: string[] }[];
  /** Nothing else runs during a call of this tool. */
  barrier: boolean;
  navigation: boolean;
  /** Names of fields in its output. */
  provides: string[];
  backoff: { maxAttempts: number; initialMs: number; maxMs: number; strategy: BackoffStrategy };
  errorPropagation: "fail-fast" | "partial-success";
  /**
   * What an answer with an error says about the effect of the call. "no-effect": nothing happened. "unknown": the
   * tool may have acted before it failed, because most servers turn every exception into an answer with an error.
   */
  errors: "unknown" | "no-effect";
  batch?: { param: string; max: number; resultPath?: string | undefined } | undefined;
  sideEffects: boolean;
  idempotency: "none" | "natural" | "key";
  lookup?: { tool: string; arguments: JsonObject; settleMs?: number | undefined } | undefined;
  timeoutMs?: number | undefined;
  rateLimit?: { max: number; perMs: number } | undefined;
  requiresApproval: boolean;
  scope: "plan" | "tenant" | "global";
}

/** The source of a contract field, in order of precedence. */
export type ContractSource = "override" | "meta" | "top-level" | "inputSchema" | "annotations" | "default";

/**
 * What to do after a call with an unknown outcome. K: send it again with the same idempotency key. R: send it
 * again, because a repeat is harmless. V: ask the lookup tool. U: the effect stays unknown; never send it
 * again.
 */
export type EffectClass = "K" | "R" | "V" | "U";

/** The effect class of a contract. */
export function effectClassOf(
  contract: Pick<ToolContract, "sideEffects" | "idempotency"> & { lookup?: unknown },
): EffectClass {
  if (!contract.sideEffects || contract.idempotency === "natural") return "R";
  if (contract.idempotency === "key") return "K";
  return contract.lookup ? "V" : "U";
}

/** What has an effect class; null before its first call. */
export interface Classed<Class extends string | null = string | null> {
  readonly effectClass: Class;
}

/** The effect class of a contract, as its tool has it. */
export function classedBy(contract: Parameters<typeof effectClassOf>[0]): Classed<EffectClass> {
  return { effectClass: effectClassOf(contract) };
}

/** True when a tool acts at most once for an idempotency key (class K), however often the call is sent with it. */
export function isKeyed({ effectClass }: Classed): boolean {
  return effectClass === "K";
}

/** True when a repeat of the call is harmless (class R). */
export function isRepeatable({ effectClass }: Classed): boolean {
  return effectClass === "R";
}

/** True when another tool can be asked whether the call happened (class V). */
export function isLookedUp({ effectClass }: Classed): boolean {
  return effectClass === "V";
}

/** True when nothing tells whether a call without an answer happened (class U): it is never sent again by itself. */
export function isUnrepeatable({ effectClass }: Classed): boolean {
  return effectClass === "U";
}

/** True for what was called, and a repeat of which would not be harmless. */
export function isActing(called: Classed): boolean {
  return called.effectClass !== null && !isRepeatable(called);
}

/** The JSON Schema 2020-12 of a contract in the form in which tools and operators declare it. */
export function contractJsonSchema(): JsonObject {
  return jsonSchemaOf(ContractDeclarationSchema);
}

/*
 * Reads the fields of a contract from a declaration; each function returns undefined when the declaration
 * does not contain the field.
 */

/** Backoff of a tool without a declared backoff. */
export const DEFAULT_BACKOFF: ToolContract["backoff"] = {
  maxAttempts: 3,
  initialMs: 1_000,
  maxMs: 30_000,
  strategy: "exponential",
};
/** Order of the strategies by their waits; higher is longer. */
const WAITS = { fixed: 0, linear: 1, exponential: 2 } as const;

/** True for a barrier in any spelling, false when the declaration excludes it. */
export function declaredBarrier({
  barrier,
  sequential,
  parallel_safe: safe,
}: ContractDeclaration): boolean | undefined {
  if (barrier === true || sequential === true || safe === false) return true;
  return barrier === false || sequential === false || safe === true ? false : undefined;
}

/** The mode, declared directly or derived from other fields. */
export function declaredMode(fields: ContractDeclaration): ToolContract["mode"] | undefined {
  if (fields.mode) return fields.mode;
  if (declaredBarrier(fields) === true) return "sequential-only";
  if (fields.max_concurrency !== undefined)
    return fields.max_concurrency === 1 ? "sequential-only" : "fan-out-bounded";
  return fields.parallel_safe === true || fields.sequential === false ? "parallel-safe" : undefined;
}

/** The names of `depends_on`, as tools and calls write it. */
export const DEPENDENCY_FIELDS = ["depends_on", "dependsOn", "dependencies"] as const;

/** The tools of `depends_on`; of several names the first counts. */
export function declaredDependencies(fields: ContractDeclaration): ToolContract["dependsOn"] | undefined {
  const declared = fields.depends_on ?? fields.dependsOn ?? fields.dependencies;
  return declared?.map(({ tool, required_fields }) => ({ tool, requiredFields: required_fields }));
}

/** The backoff, with defaults for missing parts. */
export function declaredBackoff({ backoff }: ContractDeclaration): ToolContract["backoff"] | undefined {
  return (
    backoff && {
      maxAttempts: backoff.max_attempts ?? DEFAULT_BACKOFF.maxAttempts,
      initialMs: backoff.initial_ms ?? DEFAULT_BACKOFF.initialMs,
      maxMs: backoff.max_ms ?? DEFAULT_BACKOFF.maxMs,
      strategy: backoff.strategy ?? DEFAULT_BACKOFF.strategy,
    }
  );
}

/** The tighter of two backoffs, part by part: fewer attempts, longer waits. */
export function tighterBackoff(
  value: ToolContract["backoff"],
  base: ToolContract["backoff"],
): ToolContract["backoff"] {
  const tighter = {
    maxAttempts: Math.min(value.maxAttempts, base.maxAttempts),
    initialMs: Math.max(value.initialMs, base.initialMs),
    maxMs: Math.max(value.maxMs, base.maxMs),
    strategy: WAITS[value.strategy] >= WAITS[base.strategy] ? value.strategy : base.strategy,
  };
  const isSame =
    tighter.maxAttempts === value.maxAttempts &&
    tighter.initialMs === value.initialMs &&
    tighter.maxMs === value.maxMs &&
    tighter.strategy === value.strategy;
  return isSame ? value : tighter;
}

/** How calls of the tool can be batched. */
export function declaredBatch({ batch }: ContractDeclaration): ToolContract["batch"] {
  if (!batch) return undefined;
  const { param, max, result_path: resultPath } = batch;
  return { param, max, ...(resultPath === undefined ? {} : { resultPath }) };
}

/** The maximum number of calls in a period. */
export function declaredRateLimit({ rate_limit: limit }: ContractDeclaration): ToolContract["rateLimit"] {
  return limit && { max: limit.max, perMs: limit.per_ms };
}
