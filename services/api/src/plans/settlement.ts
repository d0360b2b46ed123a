import type { PlanHead, StepHead, UnitResolution } from "@planwright/store";

/** What an operator said of a call of which nothing was known. */
export interface Settlement {
  resolution: UnitResolution["resolution"]["type"];
  by: string;
  at: Date | null;
}

/**
 * The word by which a step or item stands as it does: its output or error is then the operator's and not the tool's. Null where the
 * tool said so itself, also after an operator had it called again. Pure.
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
  const said = resolutions.findLast((word) => word.key === key && word.attempt === attemptCount);
  return said ? { resolution: said.resolution.type, by: said.by, at: said.at } : null;
}
