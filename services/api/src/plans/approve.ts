import type { PlanApproval, RequestDocument } from "@planwright/store";
import { parseStepId, parseText } from "../arguments/text.ts";
import {
  ApprovalStaleError,
  BadInputError,
  type ConflictFacts,
  StateConflictError,
  StepNotFoundError,
} from "../errors/api-error.ts";
import type { OperationContext } from "../operation/context.ts";
import { findRequest } from "../requests/find-request.ts";

/** Arguments of the mutation approve. */
export interface ApprovalInput {
  requestId: string;
  stepId: string;
  approvalHash: string;
  approved: boolean;
  reason?: string | null;
}

/**
 * Approves or refuses the call of a step, which is identified by its hash. The same caller may repeat its
 * decision, for example after a lost answer.
 * @throws {BadInputError | RequestNotFoundError | StepNotFoundError | ApprovalStaleError |
 * StateConflictError}
 */
export async function approve(context: OperationContext, input: ApprovalInput): Promise<RequestDocument> {
  const { approved } = input;
  const stepId = parseStepId(input.stepId);
  const approvalHash = parseHash(input.approvalHash);
  const reason = parseText("reason", input.reason);
  const request = await findRequest(context, input.requestId);
  const decision: Omit<PlanApproval, "at"> = { stepId, approved, approvalHash, reason, by: context.by };
  const answer = await context.store.approveStep(context.tenant, request.planId, decision);
  const stepFacts = { requestId: request._id, stepId };
  switch (answer.type) {
    case "recorded": {
      if (answer.by !== context.by)
        throw decided(
          { ...stepFacts, status: answer.plan.status },
          `${nameOf({ approved })} by ${answer.by}`,
        );
      context.offers.offerExecution(answer.plan);
      return request;
    }
    case "stale":
      throw new ApprovalStaleError({ ...stepFacts, approvalHash: answer.step.approvalHash });
    case "decided":
      throw decided({ ...stepFacts, status: answer.step.status }, nameOf({ approved: !approved }));
    case "expired":
      throw new StateConflictError(
        { ...stepFacts, status: answer.step.status },
        `The time for the approval of step '${stepId}' was over at ${answer.step.expiresAt?.toISOString()}: nothing was changed`,
        "It fails with APPROVAL_EXPIRED. After the plan has ended, rerun(requestId, from) asks for approval of this step again.",
      );
    case "not waiting":
      throw new StateConflictError(
        { ...stepFacts, status: answer.step.status },
        `Step '${stepId}' does not wait for approval, it is ${answer.step.status}: nothing was changed`,
        "Only steps whose status is WAITING_APPROVAL can be approved or refused.",
      );
    case "unknown":
      throw new StepNotFoundError(stepFacts);
  }
}

const nameOf = ({ approved }: { approved: boolean }): string => (approved ? "approved" : "refused");

function decided(facts: ConflictFacts & { stepId: string }, how: string): StateConflictError {
  return new StateConflictError(
    facts,
    `Step '${facts.stepId}' was already ${how}: nothing was changed`,
    "The first decision counts. After the plan has ended, rerun(requestId, from) asks for approval of this step again.",
  );
}

function parseHash(text: string): string {
  if (/^[0-9a-f]{64}$/.test(text)) return text;
  throw new BadInputError(
    "approvalHash",
    "Not an approvalHash",
    "Give the approvalHash of the step from request(requestId).",
  );
}
