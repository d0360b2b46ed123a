import type { PlanId } from "@planwright/plan";
import type { RequestDocument } from "../documents.ts";
import type { Following } from "../journal/turn-log.ts";
import { NOTHING_PARKED } from "../planning/parked-for.ts";

/** A request that a client has moved to another version of its plan. Pure. */
export function nextVersionOf(
  request: RequestDocument,
  { planId, autoExecute, now }: { planId: PlanId; autoExecute: boolean; now: Date },
): RequestDocument {
  return {
    ...request,
    planId,
    version: request.version + 1,
    status: autoExecute ? "EXECUTING" : "READY",
    autoExecute,
    planning: { ...request.planning, lease: null, dueAt: null, work: null },
    replan: null,
    error: null,
    answer: null,
    answerError: null,
    updatedAt: now,
  };
}

/** What that is for its document, unless it has gone on since. Pure. */
export function movedTo({
  _id,
  planId,
  version,
  status,
  autoExecute,
  updatedAt,
}: RequestDocument): Following {
  const set = { ...NOTHING_PARKED, planId, version, status, autoExecute, updatedAt };
  return { collection: "requests", filter: { _id, version: { $lt: version } }, set };
}
