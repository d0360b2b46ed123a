import type { PlanApproval, RequestDocument } from "@planwright/store";
import { ApprovalStaleError, BadInputError, StateConflictError, StepNotFoundError } from "../errors.ts";
import type { OperationParts } from "../parts.ts";
import { findRequest } from "../requests/find-request.ts";
import { parseStepId } from "../requests/parse-ids.ts";
import { parseText } from "../requests/parse-text.ts";

/** What a client said of a step that waits for approval. */
export interface ApprovalInput {
  requestId: string;
  stepId: string;
  approvalHash: string;
  approved: boolean;
  reason?: string | null;
}

/**
 * Approves or refuses what a step of a request's plan would call, named by its hash. Saying the same again changes nothing.
 * @throws {BadInputError | RequestNotFoundError | StepNotFoundError | ApprovalStaleError | StateConflictError}
 */
export async function approve(parts: OperationParts, input: ApprovalInput): Promise<RequestDocument> {
  const { approved } = input;
  const stepId = parseStepId(input.stepId);
  const approvalHash = parseHash(input.approvalHash);
  const reason = parseText("reason", input.reason);
  const request = await findRequest(parts, input.requestId);
  const word: Omit<PlanApproval, "at"> = { stepId, approved, approvalHash, reason, by: parts.by };
  const said = await parts.store.approveStep(parts.tenant, request.planId, word);
  const place = { requestId: request._id, stepId };
  switch (said.type) {
    case "recorded":
      parts.offers.offerExecution(said.plan._id, said.plan.epoch);
      return request;
    case "stale":
      throw new ApprovalStaleError({ ...place, approvalHash: said.step.approvalHash });
    case "decided":
      throw new StateConflictError(
        { ...place, status: said.step.status },
        `Step '${stepId}' was ${approved ? "refused" : "approved"} before`,
        "Nothing: the first word counts. rerun asks anew.",
      );
    case "not waiting":
      throw new StateConflictError(
        { ...place, status: said.step.status },
        `Step '${stepId}' waits for no approval: it is ${said.step.status}`,
        "Approve steps whose status is WAITING_APPROVAL.",
      );
    case "unknown":
      throw new StepNotFoundError(place);
  }
}

function parseHash(text: string): string {
  if (/^[0-9a-f]{64}$/.test(text)) return text;
  throw new BadInputError(
    "approvalHash",
    "Not an approvalHash",
    "Give the approvalHash of the step as request(requestId) shows it.",
  );
}
