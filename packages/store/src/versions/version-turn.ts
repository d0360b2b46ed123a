import type { EventOf, JournalEvent } from "@planwright/engine";
import type { PlanDocument, StepDocument } from "../documents.ts";
import { needsOf } from "../execution/plan-needs.ts";

/** A version of a plan, and the events by which it is stored, and started where it is to run at once. */
export interface VersionTurn {
  document: PlanDocument;
  events: JournalEvent[];
}

/**
 * A version of a plan with its units, of which some are over already. Pure.
 * @param before - the version before: epochs are those of the request, whose owners are told apart over all versions
 */
export function versionTurn(
  fresh: PlanDocument,
  units: readonly StepDocument[],
  before: Pick<PlanDocument, "epoch">,
): VersionTurn {
  const progressSeen = units.filter(({ finishedAt }) => finishedAt !== null).length;
  const needs = needsOf(units);
  const { epoch } = before;
  const document = { ...fresh, isFresh: false, progressSeen, epoch, ...(needs.length > 0 && { needs }) };
  const carried = units.filter(({ carriedFrom }) => carriedFrom !== null);
  const event: EventOf<"plan.stored"> = {
    type: "plan.stored",
    planId: document._id,
    version: document.version,
    isValid: document.status !== "INVALID",
    carried: carried.map(({ key }) => key),
    settled: carried.flatMap(({ key, resolvedBy }) => (resolvedBy ? [{ key, ...resolvedBy }] : [])),
    unanswered: units.flatMap(({ carriedFrom, unansweredCalls = [] }) =>
      carriedFrom === null ? unansweredCalls : [],
    ),
  };
  const isStarted = document.status === "QUEUED";
  return { document, events: [event, ...(isStarted ? [{ type: "execution.asked" as const }] : [])] };
}
