import type { StepDocument } from "../records/documents.ts";

/**
 * The forEach steps of which an item did not complete, or completed only by what an operator said after the plan was over, so that
 * the list's output says otherwise. A list that completed all the same is one of them. Pure.
 */
export function unfinishedLists(
  units: readonly Pick<StepDocument, "stepId" | "item" | "status" | "resolvedBy" | "carriedFrom">[],
): Set<string> {
  const isOpen = ({ item, status, resolvedBy, carriedFrom }: (typeof units)[number]): boolean =>
    item !== null && (status !== "COMPLETED" || (resolvedBy !== undefined && carriedFrom === null));
  return new Set(units.filter(isOpen).map(({ stepId }) => stepId));
}
