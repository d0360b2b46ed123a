import { STARTED_PLAN_STATUSES } from "@planwright/plan";
import type { PlanApproval, PlanDocument } from "../documents.ts";
import { stepDocumentAt } from "../journal/plan-units.ts";
import type { ClientStore } from "../store.ts";
import type { ClientContext } from "./context.ts";
import { asData, WISH } from "./wish.ts";

/** The part of the store that takes the words of operators on calls that need approval. */
export function createApprove({
  collections: { plans },
  unitReads,
}: ClientContext): Pick<ClientStore, "approveStep"> {
  return {
    async approveStep(tenant, planId, { stepId, approved, approvalHash, reason, by }) {
      for (;;) {
        const [plan, read] = await Promise.all([
          plans.findOne({ _id: planId, tenant }),
          unitReads.ofPlan(tenant, planId),
        ]);
        const step = read && stepDocumentAt(read, stepId);
        if (!plan || !step) return { type: "unknown" };
        const earlier = earlierWord(plan, stepId, approvalHash);
        if (earlier) {
          return earlier.approved === approved ? { type: "recorded", plan } : { type: "decided", step };
        }
        if (step.status !== "WAITING_APPROVAL" || plan.finishedAt) return { type: "not waiting", step };
        if (step.approvalHash !== approvalHash) return { type: "stale", step };
        const word = { stepId, approved, approvalHash, reason, by };
        const recorded = await plans.findOneAndUpdate(
          // No word came between: of two that contradict each other the first one holds, and the second hears of it.
          { _id: planId, tenant, status: { $in: STARTED_PLAN_STATUSES }, wishes: plan.wishes },
          [
            {
              $set: {
                ...WISH,
                approvals: { $concatArrays: ["$approvals", [{ ...asData(word), at: "$$NOW" }]] },
              },
            },
          ],
          { returnDocument: "after" },
        );
        if (recorded) return { type: "recorded", plan: recorded };
      }
    },
  };
}

function earlierWord(plan: PlanDocument, stepId: string, approvalHash: string): PlanApproval | undefined {
  return plan.approvals.find((word) => word.stepId === stepId && word.approvalHash === approvalHash);
}
