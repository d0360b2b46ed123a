import type { RequestDocument } from "@planwright/store";
import { StateConflictError, StepNotFoundError } from "../errors.ts";
import type { OperationParts } from "../parts.ts";
import { parseRequestId, parseStepId } from "../requests/parse-ids.ts";
import { refuseVersion } from "./refuse-version.ts";

/** What is to run again. */
export interface RerunInput {
  requestId: string;
  /** Null: only what did not complete. */
  from?: string | null;
  execute: boolean;
}

/**
 * Makes a new version of a request's plan that is over; what completed is carried over.
 * @throws {BadInputError | RequestNotFoundError | StepNotFoundError | StateConflictError | NotReadyError}
 * @throws {PlanInvalidError | PlanningFailedError | NeedsInputError} when there never was a plan that could run
 */
export async function rerun(parts: OperationParts, input: RerunInput): Promise<RequestDocument> {
  const requestId = parseRequestId(input.requestId);
  parts.operation?.about(requestId);
  const from = input.from === undefined || input.from === null ? null : parseStepId(input.from);
  const answer = await parts.store.rerunPlan(parts.tenant, requestId, { from, autoExecute: input.execute });
  switch (answer.type) {
    case "rerun":
      parts.operation?.about(requestId, answer.request.trace);
      if (input.execute) parts.offers.offerExecution(answer.plan._id, answer.plan.epoch);
      return answer.request;
    case "nothing failed":
      throw new StateConflictError(
        { requestId, status: "COMPLETED" },
        "Every step completed: there is nothing to run again",
        "Name in from the step to begin with.",
      );
    case "unknown step":
      throw new StepNotFoundError({ requestId, stepId: from ?? "" });
    default:
      return refuseVersion(requestId, answer, { can: "run again", version: "rerun" });
  }
}
