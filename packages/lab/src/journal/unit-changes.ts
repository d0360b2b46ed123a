import {
  advance,
  emptyRequest,
  type FoldedRequest,
  fold,
  isPlanningEvent,
  type JournalEntry,
  outlineOf,
  type StepRun,
  stepRunAt,
  stepRuns,
} from "@planwright/engine";
import type { PlanId } from "@planwright/plan";
import type { JournalDocument, PlanDocument } from "@planwright/store";

/** The change of a unit by an entry. */
export interface UnitChange {
  /** Null for a unit that is new in this entry: an item of a list, or a unit of another version. */
  before: StepRun | null;
  after: StepRun;
  /** Epoch of the owner that wrote the entry; absent for a control. */
  epoch: number | undefined;
}

/** The steps of all plans with their values, from all entries of their requests: for checks. Pure. */
export function stepsOfJournals(
  plans: readonly PlanDocument[],
  documents: readonly JournalDocument[],
): StepRun[] {
  const requests = new Map<string, FoldedRequest>();
  for (const { _id, ...entry } of documents.toSorted((a, b) => (a._id < b._id ? -1 : 1))) {
    const request = requests.get(entry.requestId) ?? emptyRequest(entry.requestId);
    requests.set(entry.requestId, request);
    advance(request, [entry]);
  }
  return plans.flatMap((plan) =>
    stepRuns({
      outline: outlineOf(plan),
      plan: requests.get(plan.requestId)?.plans.get(plan._id),
    }),
  );
}

/**
 * Returns the changes of units entry by entry: for checks of what is written.
 * @param planOf - finds a stored plan
 * @returns the changes by an entry. @throws {JournalInvalidError} for an entry that cannot follow from those
 *   before it
 */
export function createUnitChanges(
  planOf: (planId: PlanId) => PlanDocument | undefined,
): (entry: JournalEntry) => UnitChange[] {
  const requests = new Map<string, FoldedRequest>();
  return (entry) => {
    const { requestId, planId, epoch } = entry;
    const before = requests.get(requestId) ?? emptyRequest(requestId);
    const after = fold(before, [entry]);
    requests.set(requestId, after);
    if (entry.events.every(isPlanningEvent)) return [];
    // The entry names a plan that was stored before.
    const stored = planOf(planId as PlanId);
    if (!stored)
      throw new TypeError(`Entry ${entry.seq} of ${requestId} is about ${planId}, which was never stored`);
    const outline = outlineOf(stored);
    const old = before.plans.get(planId);
    const now = after.plans.get(planId);
    const isNew = entry.events.some(({ type }) => type === "plan.stored");
    const changed = [...(now?.units ?? [])].filter(([key, unit]) => old?.units.get(key) !== unit);
    return changed.flatMap(([key]) => {
      const known = isNew ? undefined : stepRunAt({ outline, plan: old }, key);
      const after = stepRunAt({ outline, plan: now }, key);
      return after ? [{ before: known ?? null, after, epoch }] : [];
    });
  };
}
