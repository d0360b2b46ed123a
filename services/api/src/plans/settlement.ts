import type { StepRun } from "@planwright/engine";
import type { PlanHead, UnitResolution } from "@planwright/store";

/** The decision of an operator about a call whose result was unknown. */
export interface Settlement {
  resolution: UnitResolution["resolution"]["type"];
  by: string;
  at: Date | null;
}

/**
 * The decision that gave a step or item its status: then its output or error comes from the operator. Null if
 * it comes from the tool, also after an operator requested a repeat of the call. Pure.
 */
export function settlementOf(
  { resolutions }: Pick<PlanHead, "resolutions">,
  { key, attempts, resolvedBy, finishedAt }: Pick<StepRun, "key" | "attempts" | "resolvedBy" | "finishedAt">,
): Settlement | null {
  if (resolvedBy) return { ...resolvedBy, at: finishedAt };
  const decision = resolutions.findLast((one) => one.key === key && one.attempt === attempts.length);
  return decision ? { resolution: decision.resolution.type, by: decision.by, at: decision.at } : null;
}
