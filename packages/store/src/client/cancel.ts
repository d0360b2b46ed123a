import type { ClientStore } from "../store.ts";
import type { ClientContext } from "./context.ts";
import { WISH } from "./wish.ts";

/** The part of the store that ends plans on request. */
export function createCancel({ collections }: ClientContext): Pick<ClientStore, "requestCancel"> {
  const { requests, plans, steps } = collections;

  return {
    async requestCancel(tenant, planId) {
      const ended = await plans.findOneAndUpdate(
        { _id: planId, tenant, status: { $in: ["READY", "AWAITING_APPROVAL"] } },
        [{ $set: { status: "CANCELLED", dueAt: null, finishedAt: "$$NOW", updatedAt: "$$NOW" } }],
        { returnDocument: "after" },
      );
      if (ended) {
        await Promise.all([
          requests.updateOne({ _id: ended.requestId, planId }, [
            { $set: { status: "CANCELLED", updatedAt: "$$NOW" } },
          ]),
          steps.updateMany({ tenant, planId, finishedAt: null }, [
            { $set: { status: "CANCELLED", finishedAt: "$$NOW", updatedAt: "$$NOW", waitReason: null } },
          ]),
        ]);
        return ended;
      }
      const asked = await plans.findOneAndUpdate(
        { _id: planId, tenant, status: { $in: ["QUEUED", "RUNNING", "WAITING", "PAUSED"] } },
        [
          {
            $set: {
              ...WISH,
              cancelRequestedAt: { $ifNull: ["$cancelRequestedAt", "$$NOW"] },
            },
          },
        ],
        { returnDocument: "after" },
      );
      return asked ?? plans.findOne({ _id: planId, tenant });
    },
  };
}
