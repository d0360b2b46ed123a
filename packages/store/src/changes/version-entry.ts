import { NOTHING_PARKED } from "../heads/parked-for.ts";
import type { FollowingWrite } from "../journal/turn-log.ts";
import type { RequestDocument } from "../records/request-document.ts";
import type { NextVersionTurn } from "../versions/version-turn.ts";
import type { ChangeEntry } from "./change-request.ts";

/**
 * The entry by which a client moves a request to another version of its plan. Pure.
 * @param before - writes to other documents, done before that of the request. Default: none
 */
export function versionEntry<Changed>(
  { document, events, request }: NextVersionTurn,
  by: string,
  changed: Changed,
  before: readonly FollowingWrite[] = [],
): ChangeEntry<Changed> {
  const following: FollowingWrite[] = [
    { collection: "plans", insert: document },
    ...before,
    movedTo(request),
  ];
  return {
    type: "append",
    events,
    by,
    planId: document._id,
    isKept: true,
    following: () => following,
    changed,
  };
}

/** The request's document at its next version, unless it has a later one. Pure. */
function movedTo({ _id, planId, version, status, autoExecute, updatedAt }: RequestDocument): FollowingWrite {
  const set = { ...NOTHING_PARKED, planId, version, status, autoExecute, updatedAt };
  return { collection: "requests", filter: { _id, version: { $lt: version } }, set };
}
