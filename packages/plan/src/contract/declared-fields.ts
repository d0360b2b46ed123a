/**
 * Reads the fields of a contract from a declaration; each function returns undefined when the declaration
 * does not contain the field.
 */
import type { ContractDeclaration, ToolContract } from "./contract.ts";

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
