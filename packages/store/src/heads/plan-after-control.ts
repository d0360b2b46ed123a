import type { PlanId } from "@planwright/plan";
import type { Document } from "mongodb";
import type { FollowingWrite } from "../journal/turn-log.ts";

/** True for a plan that no executor holds. */
export const IS_FREE = { $eq: ["$lease", null] };

const IS_PAUSED = { $eq: ["$status", "PAUSED"] };

/** Changes of a plan's document by a resume: a paused plan may be claimed, or its executor continues. */
export const RESUMED: Document = {
  pauseRequestedAt: null,
  status: { $cond: [IS_PAUSED, { $cond: [IS_FREE, "QUEUED", "RUNNING"] }, "$status"] },
  waitReason: { $cond: [IS_PAUSED, null, "$waitReason"] },
};

/**
 * The write of a control to its plan's document. It sets the seq of the control's entry, so that the executor
 * that holds the plan sees the new control. A plan that no executor holds becomes due now. Nothing is changed
 * if a later control was written or the plan has ended.
 */
export function planAfterControl(planId: PlanId, seq: number, change: Document): FollowingWrite {
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
