import type { PlanId, RequestId } from "@planwright/plan";
import type { Collections } from "../collections.ts";

/**
 * How old a request without its plan is before it is removed, in milliseconds: by then the process that was storing it has given up, or has
 * stored the plan.
 */
const HALF_AFTER_MS = 60_000;
/** How far back a process looks that looks for the first time, in milliseconds. */
const LOOK_BACK_MS = 600_000;

/**
 * Removes requests that came with a plan which is not there: their acceptance was cut off, and no client was told of them. Each request is
 * looked at once by a process.
 */
export function createRemoveHalfAccepted({
  requests,
  plans,
}: Pick<Collections, "requests" | "plans">): (nowMs: number) => Promise<number> {
  let lookedUntilMs: number | undefined;

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
    const removed =
      half.length === 0 ? 0 : (await requests.deleteMany({ _id: { $in: half }, version: 1 })).deletedCount;
    lookedUntilMs = untilMs;
    return removed;
  };
}

/** Ids begin with the second in which they were made. */
function idFrom(ms: number): RequestId {
  return `req_${Math.floor(ms / 1_000)}` as RequestId;
}
