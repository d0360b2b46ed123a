import { PAUSABLE_PLAN_STATUSES, STARTED_PLAN_STATUSES } from "@planwright/plan";
import type { ClientStore } from "../store.ts";
import type { ClientContext } from "./context.ts";
import { IS_FREE, WISH } from "./wish.ts";

/** The part of the store that holds plans up and lets them go on. */
export function createPause({
  collections: { plans },
}: ClientContext): Pick<ClientStore, "requestPause" | "requestResume"> {
  return {
    async requestPause(tenant, planId) {
      const paused = await plans.findOneAndUpdate(
        {
          _id: planId,
          tenant,
          status: { $in: PAUSABLE_PLAN_STATUSES },
          pauseRequestedAt: null,
          cancelRequestedAt: null,
        },
        [
          {
            $set: {
              ...WISH,
              pauseRequestedAt: "$$NOW",
              // No executor has to be told where none holds it: it is claimed again for its deadline alone.
              status: { $cond: [IS_FREE, "PAUSED", "$status"] },
              waitReason: { $cond: [IS_FREE, "paused", "$waitReason"] },
              dueAt: { $cond: [IS_FREE, "$deadlineAt", "$dueAt"] },
            },
          },
        ],
        { returnDocument: "after" },
      );
      return paused ?? plans.findOne({ _id: planId, tenant });
    },

    async requestResume(tenant, planId) {
      const isPaused = { $eq: ["$status", "PAUSED"] };
      const resumed = await plans.findOneAndUpdate(
        {
          _id: planId,
          tenant,
          status: { $in: STARTED_PLAN_STATUSES },
          pauseRequestedAt: { $ne: null },
        },
        [
          {
            $set: {
              ...WISH,
              pauseRequestedAt: null,
              status: { $cond: [isPaused, { $cond: [IS_FREE, "QUEUED", "RUNNING"] }, "$status"] },
              waitReason: { $cond: [isPaused, null, "$waitReason"] },
            },
          },
        ],
        { returnDocument: "after" },
      );
      return resumed ?? plans.findOne({ _id: planId, tenant });
    },
  };
}
