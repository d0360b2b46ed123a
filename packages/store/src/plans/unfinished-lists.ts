import { isSkippedByCondition, type StepRun } from "@planwright/engine";

/**
 * The forEach steps with an item that did not complete, or that completed only by an operator's decision
 * after the end of the plan: the list's output does not contain that item. The list itself may have
 * completed. An item that the list's condition skipped is finished. Pure.
 */
export function unfinishedLists(
  units: readonly (Pick<StepRun, "stepId" | "status"> & {
    item?: number | null;
    resolvedBy?: object | undefined;
    carriedFrom: string | null;
    error?: { code: string } | null;
  })[],
): Set<string> {
  const isOpen = (unit: (typeof units)[number]): boolean => {
    const { item = null, status, resolvedBy, carriedFrom } = unit;
    if (item === null || isSkippedByCondition(unit)) return false;
    return status !== "COMPLETED" || (resolvedBy !== undefined && carriedFrom === null);
  };
  return new Set(units.filter(isOpen).map(({ stepId }) => stepId));
}
