import type { RequestDocument } from "@planwright/store";
import { NotReadyError, RequestNotFoundError, StateConflictError, StepNotFoundError } from "../errors.ts";
import type { OperationParts } from "../parts.ts";
import { parseRequestId, parseStepId } from "../requests/parse-ids.ts";
import { invalid, throwIfNeverPlanned } from "./execute-plan.ts";

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
  const from = input.from === undefined || input.from === null ? null : parseStepId(input.from);
  const answer = await parts.store.rerunPlan(parts.tenant, requestId, { from, autoExecute: input.execute });
  switch (answer.type) {
    case "rerun":
      if (input.execute) parts.offers.offerExecution(answer.plan._id, answer.plan.epoch);
      return answer.request;
    case "not over":
      throw new StateConflictError(
        { requestId, status: answer.plan.status },
        `The plan is ${answer.plan.status}: only a plan that is over can run again`,
        answer.plan.status === "READY"
          ? "Start it with executePlan."
          : "Wait for its end, or cancel it; it may be the rerun that somebody else asked for.",
      );
    case "in doubt":
      throw new StateConflictError(
        { requestId, status: "IN_DOUBT", steps: answer.keys.slice(0, MAX_NAMED) },
        `Nobody knows whether these steps happened: ${answer.keys.slice(0, MAX_NAMED).join(", ")}`,
        "Settle each of them with resolveInDoubt, then ask again.",
      );
    case "nothing failed":
      throw new StateConflictError(
        { requestId, status: "COMPLETED" },
        "Every step completed: there is nothing to run again",
        "Name in from the step to begin with.",
      );
    case "unknown step":
      throw new StepNotFoundError({ requestId, stepId: from ?? "" });
    case "invalid":
      throw invalid(answer.request, answer.plan);
    case "no plan":
      throwIfNeverPlanned(answer.request);
      throw new NotReadyError({ requestId, planId: answer.request.planId });
    case "unknown":
      throw new RequestNotFoundError(requestId);
  }
}

/** Steps that an error names at most. */
const MAX_NAMED = 100;
