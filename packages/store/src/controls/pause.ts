import { approvalTimeoutOf, PAUSABLE_PLAN_STATUSES } from "@planwright/plan";
import type { Document } from "mongodb";
import type { StoreDependencies } from "../journal/dependencies.ts";
import { type AskControl, IS_FREE } from "./ask-control.ts";
import type { ControlStore } from "./control-store.ts";

const IS_PAUSED = { $eq: ["$status", "PAUSED"] };

/**
 * When a pause ends the plan: a plan that was never claimed waits for ever, and an approval expires meanwhile.
 */
const LONGEST = { $add: ["$$NOW", { $ifNull: ["$plan.policy.approvalTimeoutMs", approvalTimeoutOf({})] }] };
const PAUSED_UNTIL = {
  $cond: [
    { $eq: ["$startedAt", null] },
    null,
    { $cond: [{ $eq: ["$waitReason", "approval"] }, "$dueAt", LONGEST] },
  ],
};

/** Changes by a pause: a plan that no executor holds is paused at once and claimed only when that is too long. */
const PAUSED: Document = {
  pauseRequestedAt: "$$NOW",
  status: { $cond: [IS_FREE, "PAUSED", "$status"] },
  waitReason: { $cond: [IS_FREE, "paused", "$waitReason"] },
  dueAt: { $cond: [IS_FREE, PAUSED_UNTIL, "$dueAt"] },
};

/** Changes by a resume: a paused plan may be claimed, or its executor continues. */
const RESUMED: Document = {
  pauseRequestedAt: null,
  status: { $cond: [IS_PAUSED, { $cond: [IS_FREE, "QUEUED", "RUNNING"] }, "$status"] },
  waitReason: { $cond: [IS_PAUSED, null, "$waitReason"] },
};

/** The part of the store that pauses and resumes plans. */
export function createPause(
  { collections: { plans } }: Pick<StoreDependencies, "collections">,
  askControl: AskControl,
): Pick<ControlStore, "requestPause" | "requestResume"> {
  return {
    async requestPause(tenant, planId, by) {
      const condition = {
        status: { $in: PAUSABLE_PLAN_STATUSES },
        pauseRequestedAt: null,
        cancelRequestedAt: null,
      };
      const event = { type: "pause.asked" } as const;
      const paused = await askControl(tenant, planId, { event, by, condition, change: PAUSED });
      return paused ?? plans.findOne({ _id: planId, tenant });
    },

    async requestResume(tenant, planId, by) {
      const condition = { pauseRequestedAt: { $ne: null } };
      const event = { type: "resume.asked" } as const;
      const resumed = await askControl(tenant, planId, { event, by, condition, change: RESUMED });
      return resumed ?? plans.findOne({ _id: planId, tenant });
    },
  };
}
