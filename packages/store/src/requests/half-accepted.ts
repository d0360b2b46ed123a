import type { PlanId, RequestId } from "@planwright/plan";
import type { Collections } from "../database/collections.ts";

/**
 * Age at which a request without its plan is removed, in milliseconds. By then the process that was storing
 * the plan has stopped trying, or has stored it.
 */
const HALF_AFTER_MS = 60_000;
/** How far back the first search of a process goes, in milliseconds. */
const LOOK_BACK_MS = 600_000;

/**
 * Removes requests that came with a plan which is not stored: their acceptance was interrupted, and no client
 * got an answer. A client may repeat its key meanwhile. If it completes its request first, the request is
 * kept. Otherwise it finds the key free, and its submission is accepted as a new request.
 */
export function createRemoveHalfAccepted({
  requests,
  plans,
}: Pick<Collections, "requests" | "plans">): (nowMs: number) => Promise<number> {
  let checkedUntilMs: number | undefined;

  /**
   * Removes the key, so that no client can complete the request any more. False for a request that is being
   * completed.
   */
  async function removeKey(_id: RequestId, untilMs: number): Promise<boolean> {
    const { matchedCount } = await requests.updateOne(
      { _id, version: 1, updatedAt: { $lt: new Date(untilMs) } },
      { $set: { idempotency: null } },
    );
    return matchedCount > 0;
  }

  return async (nowMs) => {
    const untilMs = nowMs - HALF_AFTER_MS;
    const fromMs = checkedUntilMs ?? untilMs - LOOK_BACK_MS;
    const found = await requests
      .find(
        { _id: { $gte: idFrom(fromMs), $lt: idFrom(untilMs) }, source: "plan", version: 1 },
        { projection: { planId: 1 } },
      )
      .toArray();
    const planIds = found.map(({ planId }): PlanId => planId);
    const stored = await plans.find({ _id: { $in: planIds } }, { projection: { _id: 1 } }).toArray();
    const known = new Set(stored.map(({ _id }) => _id));
    const half = found.flatMap(({ _id, planId }) => (known.has(planId) ? [] : [_id]));
    const removable: RequestId[] = [];
    for (const id of half) if (await removeKey(id, untilMs)) removable.push(id);
    if (removable.length > 0) await requests.deleteMany({ _id: { $in: removable } });
    // Requests that are being completed are checked again: their process may die before it stores the plan.
    if (removable.length === half.length) checkedUntilMs = untilMs;
    return removable.length;
  };
}

/** An id begins with the second in which it was made. */
function idFrom(ms: number): RequestId {
  return `req_${Math.floor(ms / 1_000)}` as RequestId;
}
