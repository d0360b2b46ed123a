import type { JournalEvent } from "@planwright/engine";
import { type PlanId, STARTED_PLAN_STATUSES, UNSTARTED_PLAN_STATUSES } from "@planwright/plan";
import type { PlanDocument } from "../documents.ts";
import { appendInSession } from "../journal/append-in-session.ts";
import { readInSession } from "../journal/read-in-session.ts";
import type { ClientStore } from "../store.ts";
import type { ClientContext } from "./context.ts";
import { WISH } from "./wish.ts";

/** The part of the store that ends plans on request. */
export function createCancel(context: ClientContext): Pick<ClientStore, "requestCancel"> {
  const { collections, transact } = context;
  const { requests, plans } = collections;

  /** Ends a plan that never began: with its request and its steps, or not at all, as no executor comes back to it. */
  function endUnstarted(tenant: string, planId: PlanId): Promise<PlanDocument | null> {
    const isOver = { status: "CANCELLED", finishedAt: "$$NOW", updatedAt: "$$NOW" };
    return transact(async (session) => {
      const ended = await plans.findOneAndUpdate(
        { _id: planId, tenant, status: { $in: UNSTARTED_PLAN_STATUSES } },
        [{ $set: { ...isOver, dueAt: null } }],
        { returnDocument: "after", session },
      );
      if (!ended) return null;
      await requests.updateOne(
        { _id: ended.requestId, planId },
        [{ $set: { status: "CANCELLED", updatedAt: "$$NOW" } }],
        { session },
      );
      const { seq: afterSeq } = await readInSession(collections, ended, session);
      const told = { by: "api", events: cancelled(ended), afterSeq } as const;
      await appendInSession(context, ended, told, session);
      return ended;
    });
  }

  return {
    async requestCancel(tenant, planId) {
      const ended = await endUnstarted(tenant, planId);
      if (ended) return ended;
      const asked = await plans.findOneAndUpdate(
        { _id: planId, tenant, status: { $in: STARTED_PLAN_STATUSES } },
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

/** Nothing of the plan was begun, and nothing will be. */
function cancelled({ plan }: PlanDocument): JournalEvent[] {
  const steps = (plan?.steps ?? []).map(({ id }): JournalEvent => {
    return { type: "step.changed", key: id, stepId: id, status: "CANCELLED" };
  });
  return [...steps, { type: "plan.ended", status: "CANCELLED", outputs: null, error: null }];
}
