import type { PlanId } from "@planwright/plan";
import type { PlanDocument } from "../documents.ts";
import type { ClientStore } from "../store.ts";
import type { ClientContext } from "./context.ts";
import { WISH } from "./wish.ts";

/** The part of the store that ends plans on request. */
export function createCancel({ collections, transact }: ClientContext): Pick<ClientStore, "requestCancel"> {
  const { requests, plans, steps } = collections;

  /** Ends a plan that never began: with its request and its steps, or not at all, as nobody comes back to it. */
  function endUnstarted(tenant: string, planId: PlanId): Promise<PlanDocument | null> {
    const isOver = { status: "CANCELLED", finishedAt: "$$NOW", updatedAt: "$$NOW" };
    return transact(async (session) => {
      const ended = await plans.findOneAndUpdate(
        { _id: planId, tenant, status: { $in: ["READY", "AWAITING_APPROVAL"] } },
        [{ $set: { ...isOver, dueAt: null } }],
        { returnDocument: "after", session },
      );
      if (!ended) return null;
      await requests.updateOne(
        { _id: ended.requestId, planId },
        [{ $set: { status: "CANCELLED", updatedAt: "$$NOW" } }],
        { session },
      );
      await steps.updateMany(
        { tenant, planId, finishedAt: null },
        [{ $set: { ...isOver, waitReason: null } }],
        { session },
      );
      return ended;
    });
  }

  return {
    async requestCancel(tenant, planId) {
      const ended = await endUnstarted(tenant, planId);
      if (ended) return ended;
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
