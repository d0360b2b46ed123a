import type { PlanId } from "@planwright/plan";
import type { Document } from "mongodb";
import type { Following } from "../journal/turn-log.ts";

/** True of a plan that no executor holds. */
export const IS_FREE = { $eq: ["$lease", null] };

const IS_PAUSED = { $eq: ["$status", "PAUSED"] };

/**
 * What a resume changes of the plan's document: a plan that was paused may be claimed, or its executor
 * continues.
 */
export const RESUMED: Document = {
  pauseRequestedAt: null,
  status: { $cond: [IS_PAUSED, { $cond: [IS_FREE, "QUEUED", "RUNNING"] }, "$status"] },
  waitReason: { $cond: [IS_PAUSED, null, "$waitReason"] },
};

/**
 * What every control changes of the plan's document, unless a later one has or the plan has ended: the place
 * of its entry, by which the executor that holds the plan sees that there is something new, and for a plan
 * that no executor holds the time from which it may be claimed: now.
 */
export function planAfterControl(planId: PlanId, seq: number, change: Document): Following {
  return {
    collection: "plans",
    filter: { _id: planId, controlSeq: { $lt: seq }, finishedAt: null },
    expressions: {
      dueAt: { $cond: [IS_FREE, "$$NOW", "$dueAt"] },
      updatedAt: "$$NOW",
      ...change,
      controlSeq: seq,
    },
  };
}
