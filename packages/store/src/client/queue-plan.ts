import type { PlanId, RequestId } from "@planwright/plan";
import type { PlanDocument } from "../documents.ts";
import type { ClientStore } from "../store.ts";
import { type ChangeDecision, type ChangedRequest, changeRequest } from "./change-request.ts";
import type { ClientContext } from "./context.ts";

/** The part of the store that starts plans. */
export function createQueuePlan(context: ClientContext): Pick<ClientStore, "queuePlan"> {
  const { plans } = context.collections;

  const find = (tenant: string, planId: PlanId): Promise<PlanDocument | null> =>
    plans.findOne({ _id: planId, tenant });

  return {
    async queuePlan(tenant: string, planId: PlanId, requestId: RequestId, by = "api") {
      const decide = async (now: ChangedRequest): Promise<ChangeDecision<Start, Start>> => {
        const plan = await find(tenant, planId);
        if (!plan) return whenPlanned(now, planId, by);
        const told = now.state.plans.get(planId)?.status ?? "READY";
        if (plan.status !== "READY" || plan.requestId !== requestId)
          return { type: "answer", answer: { type: "unchanged" } };
        // Its document lags: who told more of it is just changing that, or has died.
        if (told !== "READY") return { type: "answer", answer: { type: "told before" } };
        return start(plan, by);
      };
      const asked = { tenant, requestId, operation: "execute", decide };
      const answer = await changeRequest<Start, Start>(context, asked);
      if (answer?.type === "told before") await context.settleOutbox.ofRequest(requestId);
      return find(tenant, planId);
    },
  };
}

/** What becomes of the wish to execute a plan. */
interface Start {
  type: "started" | "planned" | "told before" | "unchanged";
}

/** READY -> QUEUED: its journal tells so, the executor that claims it reads that, and its request follows. */
function start({ _id, requestId }: PlanDocument, by: string): ChangeDecision<Start, Start> {
  const stamps = { queuedAt: "$$NOW", dueAt: "$$NOW", updatedAt: "$$NOW" };
  return {
    type: "tell",
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

/** A plan that is still being made starts as soon as it is there. */
function whenPlanned({ request }: ChangedRequest, planId: PlanId, by: string): ChangeDecision<Start, Start> {
  const { _id, status, autoExecute } = request;
  if (request.planId !== planId || status !== "PLANNING" || autoExecute)
    return { type: "answer", answer: { type: "unchanged" } };
  return {
    type: "tell",
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
