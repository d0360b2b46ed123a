import type { StepDocument } from "../records/step-document.ts";

/**
 * The forEach steps of which an item did not complete, or completed only by an operator's decision after the
 * plan had ended, so that the list's output does not contain it. The list itself may have completed. Pure.
 */
export function unfinishedLists(
  units: readonly Pick<StepDocument, "stepId" | "item" | "status" | "resolvedBy" | "carriedFrom">[],
): Set<string> {
  const isOpen = ({ item, status, resolvedBy, carriedFrom }: (typeof units)[number]): boolean =>
    item !== null && (status !== "COMPLETED" || (resolvedBy !== undefined && carriedFrom === null));
  return new Set(units.filter(isOpen).map(({ stepId }) => stepId));
}
