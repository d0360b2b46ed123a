import type { PlanApproval, RequestDocument } from "@planwright/store";
import { parseStepId } from "../arguments/parse-ids.ts";
import { parseText } from "../arguments/parse-text.ts";
import {
  ApprovalStaleError,
  BadInputError,
  type ConflictFacts,
  StateConflictError,
  StepNotFoundError,
} from "../errors/api-errors.ts";
import type { OperationContext } from "../operation/context.ts";
import { findRequest } from "../requests/find-request.ts";

/** What a client said of a step that waits for approval. */
export interface ApprovalInput {
  requestId: string;
  stepId: string;
  approvalHash: string;
  approved: boolean;
  reason?: string | null;
}

/**
 * Approves or refuses what a step of a request's plan would call, named by its hash. The same word again by the same caller is
 * answered as done: a client that lost the answer may repeat it.
 * @throws {BadInputError | RequestNotFoundError | StepNotFoundError | ApprovalStaleError | StateConflictError}
 */
export async function approve(context: OperationContext, input: ApprovalInput): Promise<RequestDocument> {
  const { approved } = input;
  const stepId = parseStepId(input.stepId);
  const approvalHash = parseHash(input.approvalHash);
  const reason = parseText("reason", input.reason);
  const request = await findRequest(context, input.requestId);
  const word: Omit<PlanApproval, "at"> = { stepId, approved, approvalHash, reason, by: context.by };
  const said = await context.store.approveStep(context.tenant, request.planId, word);
  const place = { requestId: request._id, stepId };
  switch (said.type) {
    case "recorded": {
      if (said.by !== context.by)
        throw decided({ ...place, status: said.plan.status }, `${saidOf({ approved })} by ${said.by}`);
      context.offers.offerExecution(said.plan._id, said.plan.epoch);
      return request;
    }
    case "stale":
      throw new ApprovalStaleError({ ...place, approvalHash: said.step.approvalHash });
    case "decided":
      throw decided({ ...place, status: said.step.status }, saidOf({ approved: !approved }));
    case "not waiting":
      throw new StateConflictError(
        { ...place, status: said.step.status },
        `Step '${stepId}' does not wait for approval, it is ${said.step.status}: nothing was changed`,
        "Only steps whose status is WAITING_APPROVAL can be approved or refused.",
      );
    case "unknown":
      throw new StepNotFoundError(place);
  }
}

const saidOf = ({ approved }: { approved: boolean }): string => (approved ? "approved" : "refused");

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
    "Give the approvalHash of the step as request(requestId) shows it.",
  );
}
