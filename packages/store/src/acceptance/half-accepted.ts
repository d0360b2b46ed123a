import type { PlanId, RequestId } from "@planwright/plan";
import type { Collections } from "../database/collections.ts";

/**
 * How old a request without its plan is before it is removed, in milliseconds: by then the process that was
 * storing it has given up, or has stored the plan.
 */
const HALF_AFTER_MS = 60_000;
/** How far back a process looks that looks for the first time, in milliseconds. */
const LOOK_BACK_MS = 600_000;

/**
 * Removes requests that came with a plan which is not there: their acceptance was cut off, and no client was
 * told of them. A client that repeats its key meanwhile either completes its request first, which then stays,
 * or finds the key free and is accepted anew.
 */
export function createRemoveHalfAccepted({
  requests,
  plans,
}: Pick<Collections, "requests" | "plans">): (nowMs: number) => Promise<number> {
  let lookedUntilMs: number | undefined;

  /**
   * Removes the key, so that no client can complete the request any more; false for one that is being
   * completed.
   */
  async function giveUp(_id: RequestId, untilMs: number): Promise<boolean> {
    const { matchedCount } = await requests.updateOne(
      { _id, version: 1, updatedAt: { $lt: new Date(untilMs) } },
      { $set: { idempotency: null } },
    );
    return matchedCount > 0;
  }

  return async (nowMs) => {
    const untilMs = nowMs - HALF_AFTER_MS;
    const fromMs = lookedUntilMs ?? untilMs - LOOK_BACK_MS;
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
    const givenUp: RequestId[] = [];
    for (const id of half) if (await giveUp(id, untilMs)) givenUp.push(id);
    if (givenUp.length > 0) await requests.deleteMany({ _id: { $in: givenUp } });
    // What is being completed is looked at again: its process may die before it stores the plan.
    if (givenUp.length === half.length) lookedUntilMs = untilMs;
    return givenUp.length;
  };
}

/** Ids begin with the second in which they were made. */
function idFrom(ms: number): RequestId {
  return `req_${Math.floor(ms / 1_000)}` as RequestId;
}
