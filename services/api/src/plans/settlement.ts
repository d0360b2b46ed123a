import type { PlanHead, StepHead, UnitResolution } from "@planwright/store";

/** The decision of an operator about a call whose result was not known. */
export interface Settlement {
  resolution: UnitResolution["resolution"]["type"];
  by: string;
  at: Date | null;
}

/**
 * The decision that gave a step or item its status: its output or error then comes from the operator. Null
 * where it comes from the tool, also after an operator let it be called again. Pure.
 */
export function settlementOf(
  { resolutions }: Pick<PlanHead, "resolutions">,
  {
    key,
    attemptCount,
    resolvedBy,
    finishedAt,
  }: Pick<StepHead, "key" | "attemptCount" | "resolvedBy" | "finishedAt">,
): Settlement | null {
  if (resolvedBy) return { ...resolvedBy, at: finishedAt };
  const decision = resolutions.findLast((one) => one.key === key && one.attempt === attemptCount);
  return decision ? { resolution: decision.resolution.type, by: decision.by, at: decision.at } : null;
}
