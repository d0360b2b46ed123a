import type { ClientStore } from "../store.ts";
import type { ClientContext } from "./context.ts";

/** The part of the store that starts plans. */
export function createQueuePlan(context: ClientContext): Pick<ClientStore, "queuePlan"> {
  const { collections, group, readPlan } = context;

  return {
    async queuePlan(tenant, planId, requestId) {
      const [queued] = await Promise.all([
        group.updateAndRead({
          collection: "plans",
          id: planId,
          condition: { tenant, status: "READY" },
          set: { status: "QUEUED" },
          stamps: ["queuedAt", "dueAt", "updatedAt"],
        }),
        // Should this be done alone, the plan is still READY and asking again queues it; the other way round its end corrects it.
        group.set({
          collection: "requests",
          id: requestId,
          condition: { tenant, planId, status: "READY" },
          set: { status: "EXECUTING" },
          stamps: ["updatedAt"],
        }),
      ]);
      if (queued) return queued;
      const plan = await readPlan(planId);
      if (!plan) {
        // Still being planned: it starts as soon as there is a plan.
        await collections.requests.updateOne(
          { _id: requestId, tenant, planId, status: "PLANNING" },
          { $set: { autoExecute: true } },
        );
      }
      return plan?.tenant === tenant ? plan : null;
    },
  };
}
