import { STARTED_PLAN_STATUSES } from "@planwright/plan";
import { stepDocumentAt } from "../journal/plan-units.ts";
import type { AppendControl } from "./append-control.ts";
import type { ApprovalAnswer, ControlStore } from "./control-store.ts";

/** The part of the store that records operators' decisions on calls that need approval. */
export function createApprove(appendControl: AppendControl): Pick<ControlStore, "approveStep"> {
  return {
    async approveStep(tenant, planId, { by, ...approval }) {
      const { stepId, approved, approvalHash } = approval;
      const answer = await appendControl<ApprovalAnswer>(tenant, planId, ({ plan, read }) => {
        const step = stepDocumentAt(read, stepId);
        if (!step) return { type: "answer", answer: { type: "unknown" } };
        const earlier = read.plan?.approvals.find(
          (given) => given.stepId === stepId && given.approvalHash === approvalHash,
        );
        if (earlier) {
          const repeated: ApprovalAnswer =
            earlier.approved === approved
              ? { type: "recorded", plan, by: earlier.by }
              : { type: "decided", step };
          return { type: "answer", answer: repeated };
        }
        const isOpen = STARTED_PLAN_STATUSES.includes(plan.status) && read.plan?.endedSeq === null;
        if (step.status !== "WAITING_APPROVAL" || !isOpen)
          return { type: "answer", answer: { type: "not waiting", step } };
        if (step.approvalHash !== approvalHash) return { type: "answer", answer: { type: "stale", step } };
        return { type: "append", event: { type: "approval.given", ...approval }, by, head: {} };
      });
      if (!answer) return { type: "unknown" };
      return answer.type === "appended" ? { type: "recorded", plan: answer.plan, by } : answer;
    },
  };
}
