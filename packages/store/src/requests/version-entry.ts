import type { HeadWrite } from "../journal/pending-write.ts";
import { NOTHING_PARKED } from "../plans/parked-for.ts";
import type { NextVersionTurn } from "../plans/version-turn.ts";
import type { RequestDocument } from "../records/request-document.ts";
import type { ChangeEntry } from "./change-request.ts";

/**
 * The entry by which a client moves a request to another version of its plan. Pure.
 * @param before - writes to other documents, done before that of the request. Default: none
 */
export function versionEntry<Changed>(
  { document, events, request }: NextVersionTurn,
  by: string,
  changed: Changed,
  before: readonly HeadWrite[] = [],
): ChangeEntry<Changed> {
  const following: HeadWrite[] = [{ collection: "plans", insert: document }, ...before, movedTo(request)];
  return {
    type: "append",
    events,
    by,
    planId: document._id,
    following: () => following,
    changed,
  };
}

/** The request's document at its next version. Pure. */
function movedTo({ _id, planId, version, status, autoExecute, updatedAt }: RequestDocument): HeadWrite {
  const set = { ...NOTHING_PARKED, planId, version, status, autoExecute, updatedAt };
  return { collection: "requests", id: _id, condition: { version: version - 1 }, set };
}
