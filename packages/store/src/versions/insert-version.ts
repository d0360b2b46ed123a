import type { JournalEvent } from "@planwright/engine";
import type { ClientSession } from "mongodb";
import type { Collections } from "../collections.ts";
import type { PlanDocument, StepDocument } from "../documents.ts";
import { needsOf } from "../execution/plan-needs.ts";
import { type AppendContext, appendInSession, type ToldInSession } from "../journal/append-in-session.ts";

/** What a version follows from, and the transaction that moves its request to it. */
export interface VersionMove extends Required<Pick<ToldInSession, "by" | "afterSeq">> {
  /** The version before. */
  before: Pick<PlanDocument, "epoch">;
  session: ClientSession;
}

/**
 * Stores another version of a plan with its units, of which some are over already.
 * @throws {JournalMovedError} when something more was told of the version before
 */
export async function insertVersion(
  context: AppendContext & { collections: Pick<Collections, "plans"> },
  fresh: PlanDocument,
  units: readonly StepDocument[],
  { by, afterSeq, before, session }: VersionMove,
): Promise<PlanDocument> {
  const progressSeen = units.filter(({ finishedAt }) => finishedAt !== null).length;
  const needs = needsOf(units);
  // Epochs are those of the request: its owners are told apart over all versions.
  const { epoch } = before;
  const document = { ...fresh, isFresh: false, progressSeen, epoch, ...(needs.length > 0 && { needs }) };
  await context.collections.plans.insertOne(document, { session });
  await appendInSession(context, document, { by, afterSeq, events: [stored(document, units)] }, session);
  return document;
}

function stored({ _id, version }: PlanDocument, units: readonly StepDocument[]): JournalEvent {
  const carried = units.filter(({ carriedFrom }) => carriedFrom !== null);
  return {
    type: "plan.stored",
    planId: _id,
    version,
    isValid: true,
    carried: carried.map(({ key }) => key),
    settled: carried.flatMap(({ key, resolvedBy }) => (resolvedBy ? [{ key, ...resolvedBy }] : [])),
    unanswered: units.flatMap(({ carriedFrom, unansweredCalls = [] }) =>
      carriedFrom === null ? unansweredCalls : [],
    ),
  };
}
