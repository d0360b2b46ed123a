import { NOTHING_PARKED } from "../heads/parked-for.ts";
import type { Following } from "../journal/turn-log.ts";
import type { RequestDocument } from "../records/request-document.ts";
import type { NextVersionTurn } from "../versions/version-turn.ts";
import type { ToldChange } from "./change-request.ts";

/**
 * The turn by which a client moves a request to another version of its plan. Pure.
 * @param before - what follows for other documents, ahead of the request's
 */
export function tellVersion<Changed>(
  { document, events, request }: NextVersionTurn,
  by: string,
  changed: Changed,
  before: readonly Following[] = [],
): ToldChange<Changed> {
  const following: Following[] = [{ collection: "plans", insert: document }, ...before, movedTo(request)];
  return {
    type: "tell",
    events,
    by,
    planId: document._id,
    isKept: true,
    following: () => following,
    changed,
  };
}

/** The request's document at its next version, unless it has a later one. Pure. */
function movedTo({ _id, planId, version, status, autoExecute, updatedAt }: RequestDocument): Following {
  const set = { ...NOTHING_PARKED, planId, version, status, autoExecute, updatedAt };
  return { collection: "requests", filter: { _id, version: { $lt: version } }, set };
}
