import type { PlanId, RequestId } from "@planwright/plan";
import type { PlanDocument } from "../documents.ts";
import type { ClientStore } from "../store.ts";
import { type ChangeDecision, type ChangedRequest, changeRequest } from "./change-request.ts";
import type { ClientContext } from "./context.ts";

/** The part of the store that starts plans. */
export function createQueuePlan(context: ClientContext): Pick<ClientStore, "queuePlan"> {
  const { group, readPlan } = context;

  async function queuePlan(
    tenant: string,
    planId: PlanId,
    requestId: RequestId,
    by = "api",
  ): Promise<PlanDocument | null> {
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
    if (plan) return plan.tenant === tenant ? plan : null;
    // Still being planned: it starts as soon as there is a plan.
    const decide = (now: ChangedRequest) => whenPlanned(now, { planId, by });
    const answer = await changeRequest(context, { tenant, requestId, operation: "execute", decide });
    return answer?.type === "stored since" ? queuePlan(tenant, planId, requestId, by) : null;
  }

  return { queuePlan };
}

/** What becomes of the wish to execute a plan that was not there when it was looked for. */
interface WhenPlanned {
  type: "planned" | "stored since" | "unchanged";
}

function whenPlanned(
  { request }: ChangedRequest,
  { planId, by }: { planId: PlanId; by: string },
): ChangeDecision<WhenPlanned, WhenPlanned> {
  const { _id, status, autoExecute } = request;
  const isCurrent = request.planId === planId;
  if (isCurrent && status === "READY") return { type: "answer", answer: { type: "stored since" } };
  if (!isCurrent || status !== "PLANNING" || autoExecute)
    return { type: "answer", answer: { type: "unchanged" } };
  const filter = { _id, status: "PLANNING", planId };
  return {
    type: "tell",
    events: [{ type: "execution.planned" }],
    by,
    isKept: true,
    following: () => [{ collection: "requests", filter, set: { autoExecute: true } }],
    changed: { type: "planned" },
  };
}
