import type { EventOf, JournalEvent } from "@planwright/engine";
import { createPlanId } from "@planwright/plan";
import type { StoreDependencies } from "../journal/dependencies.ts";
import { newPlan } from "../records/new-documents.ts";
import type { PlanDocument } from "../records/plan-document.ts";
import type { RequestDocument } from "../records/request-document.ts";
import type { CarriedVersion, RepeatedCall } from "./carry-over.ts";
import { needsFields, needsOf } from "./plan-needs.ts";

/** The next version of a plan, and the request at that version. */
export type NextVersionTurn = ReturnType<typeof nextVersionTurn>;

/** Fields that leave no work for planners: the request has moved on. */
export const NOTHING_PARKED = {
  lease: null,
  dueAt: null,
  replan: null,
  error: null,
  answer: null,
  answerError: null,
};

interface NextVersionParts extends Omit<Parameters<typeof newPlan>[0], "status" | "now"> {
  /** The current document. */
  request: RequestDocument;
  /** The previous version; null when there is none. */
  before: PlanDocument | null;
  /** Start executing as soon as it is stored. */
  autoExecute: boolean;
  /** Of its units; some may have ended already. */
  content: CarriedVersion;
  /** Units that are called again although they acted or may have acted. Default: none. */
  repeats?: readonly RepeatedCall[] | undefined;
  /** Ids of steps that may repeat an effect. Default: none. */
  accepted?: Iterable<string> | undefined;
}

/** The units of a first version. */
export const NOTHING_CARRIED: CarriedVersion = { carried: [], unanswered: [], moved: [] };

/** The next version of a request's plan, with a new plan id. */
export function nextVersionTurn(
  { clock, randomBytes }: Pick<StoreDependencies, "clock" | "randomBytes">,
  { request: current, before, autoExecute, content, repeats, accepted, ...parts }: NextVersionParts,
) {
  const now = new Date(clock.now());
  const request: RequestDocument = {
    ...current,
    ...NOTHING_PARKED,
    planId: createPlanId(now.getTime(), randomBytes),
    version: current.version + 1,
    status: autoExecute ? "EXECUTING" : "READY",
    autoExecute,
    planning: { ...current.planning, work: null, wait: null },
    updatedAt: now,
  };
  const fresh = newPlan({ ...parts, request, status: autoExecute ? "QUEUED" : "READY", now });
  return { ...versionTurn(fresh, { ...content, repeats, accepted }, before ?? fresh), request, now };
}

/**
 * A version of a plan with its units, of which some may have ended already, and the events that store it and, if it is
 * to run at once, start it. Pure.
 * @param before - the previous version: the new one continues its epochs, so that an epoch identifies one
 *   owner over all versions
 */
export function versionTurn(
  fresh: PlanDocument,
  content: CarriedVersion & Pick<NextVersionParts, "repeats" | "accepted">,
  before: Pick<PlanDocument, "epoch">,
) {
  const { carried, unanswered, moved, repeats = [] } = content;
  const accepted = [...(content.accepted ?? [])];
  const progressSeen = carried.filter(({ finishedAt }) => finishedAt !== null).length;
  const needs = needsOf(carried);
  const { epoch } = before;
  const document: PlanDocument = {
    ...fresh,
    isFresh: false,
    progressSeen,
    epoch,
    ...(needs.length > 0 && needsFields(fresh, needs, fresh.createdAt)),
  };
  const event: EventOf<"plan.stored"> = {
    type: "plan.stored",
    planId: document._id,
    version: document.version,
    isValid: document.status !== "INVALID",
    carried: carried.map(({ key }) => key),
    settled: carried.flatMap(({ key, resolvedBy }) => (resolvedBy ? [{ key, ...resolvedBy }] : [])),
    unanswered,
    ...(repeats.length > 0 && { repeats: [...repeats] }),
    ...(moved.length > 0 && { moved }),
    ...(accepted.length > 0 && { accepted }),
  };
  const isStarted = document.status === "QUEUED";
  const events: JournalEvent[] = [event, ...(isStarted ? [{ type: "execution.asked" as const }] : [])];
  return { document, events };
}
