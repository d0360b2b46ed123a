import type { PlanId, RequestId } from "@planwright/plan";
import type { StoreDependencies } from "../journal/dependencies.ts";
import type { PlanDocument } from "../records/plan-document.ts";
import { type ChangeDecision, type ChangedRequest, changeRequest } from "./change-request.ts";
import type { ChangeStore } from "./change-store.ts";

/** The part of the store that starts plans. */
export function createQueuePlan(context: StoreDependencies): Pick<ChangeStore, "queuePlan"> {
  const { plans } = context.collections;

  return {
    async queuePlan(tenant: string, planId: PlanId, requestId: RequestId, by = "api") {
      const decide = (now: ChangedRequest): ChangeDecision<null, Start> => {
        const { request, plan } = now;
        // A later version is current.
        if (request.planId !== planId) return { type: "answer", answer: null };
        if (!plan) return whenPlanned(now, by);
        return plan.status === "READY" ? start(plan, by) : { type: "answer", answer: null };
      };
      await changeRequest(context, { tenant, requestId, operation: "execute", decide });
      return plans.findOne({ _id: planId, tenant });
    },
  };
}

/** Result of a start. `planned`: the plan is not made yet and will start when it is. */
interface Start {
  type: "started" | "planned";
}

/**
 * READY -> QUEUED: an entry says so, which the executor that claims the plan reads. The request's document
 * follows.
 */
function start({ _id, requestId }: PlanDocument, by: string): ChangeDecision<null, Start> {
  const stamps = { queuedAt: "$$NOW", dueAt: "$$NOW", updatedAt: "$$NOW" };
  return {
    type: "append",
    events: [{ type: "execution.asked" }],
    by,
    planId: _id,
    isKept: true,
    following: () => [
      {
        collection: "plans",
        filter: { _id, status: "READY" },
        expressions: { status: "QUEUED", isFresh: false, ...stamps },
      },
      {
        collection: "requests",
        filter: { _id: requestId, planId: _id, status: "READY" },
        expressions: { status: "EXECUTING", updatedAt: "$$NOW" },
      },
    ],
    changed: { type: "started" },
  };
}

/** A plan that is still being made starts as soon as it is stored. */
function whenPlanned({ request }: ChangedRequest, by: string): ChangeDecision<null, Start> {
  const { _id, planId, status, autoExecute } = request;
  if (status !== "PLANNING" || autoExecute) return { type: "answer", answer: null };
  return {
    type: "append",
    events: [{ type: "execution.planned" }],
    by,
    isKept: true,
    following: () => [
      {
        collection: "requests",
        filter: { _id, status: "PLANNING", planId },
        set: { autoExecute: true },
      },
    ],
    changed: { type: "planned" },
  };
}
