import type { StoreDependencies } from "../journal/dependencies.ts";
import { stepDocumentAt } from "../journal/plan-units.ts";
import type { UndecidedUnit } from "../records/plan-document.ts";
import { type AskDecision, type Decided, type DecisionState, isOpen } from "./ask-control.ts";
import type { ApprovalAnswer, ControlStore } from "./control-store.ts";

/** The part of the store that records operators' decisions on calls that need approval. */
export function createApprove(
  askDecision: AskDecision,
  { clock }: Pick<StoreDependencies, "clock">,
): Pick<ControlStore, "approveStep"> {
  return {
    async approveStep(tenant, planId, { by, ...approval }) {
      const { stepId, approved, approvalHash } = approval;
      const event = { type: "approval.given", ...approval } as const;
      const about = (unit: UndecidedUnit) =>
        unit.key === stepId && "approvalHash" in unit && unit.approvalHash === approvalHash
          ? event
          : undefined;
      const decide = ({ plan, read, given }: DecisionState): Decided<ApprovalAnswer> => {
        const step = stepDocumentAt(read, stepId);
        if (!step) return { type: "answer", answer: { type: "unknown" } };
        const earlier = given.approvals.find(
          (one) => one.stepId === stepId && one.approvalHash === approvalHash,
        );
        if (earlier) {
          const repeated: ApprovalAnswer =
            earlier.approved === approved
              ? { type: "recorded", plan, by: earlier.by }
              : { type: "decided", step };
          return { type: "answer", answer: repeated };
        }
        if (step.status !== "WAITING_APPROVAL" || !isOpen(plan) || read.plan?.endedSeq !== null)
          return { type: "answer", answer: { type: "not waiting", step } };
        if (step.expiresAt && step.expiresAt.getTime() <= clock.now())
          return { type: "answer", answer: { type: "expired", step } };
        if (step.approvalHash !== approvalHash) return { type: "answer", answer: { type: "stale", step } };
        return { type: "ask", event };
      };
      const answer = await askDecision({ tenant, planId, by, about, decide });
      if (!answer) return { type: "unknown" };
      return answer.type === "asked" ? { type: "recorded", plan: answer.plan, by } : answer;
    },
  };
}
