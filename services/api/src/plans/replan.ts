import type { RequestDocument } from "@planwright/store";
import { parseRequestId, parseText, parseVersion, type VersionInput } from "../arguments/text.ts";
import { StateConflictError } from "../errors/api-error.ts";
import type { OperationContext } from "../operation/context.ts";
import { findRequest } from "../requests/find-request.ts";
import { refuseVersion } from "./refuse-version.ts";

/** Arguments of the mutation replan. */
export interface ReplanInput extends VersionInput {
  requestId: string;
  /** Instruction for the planner. Default: no note. */
  note?: string | null;
  execute: boolean;
}

/**
 * Asks a planner for a new version of a plan that has ended and is not COMPLETED. A repeated key does
 * nothing.
 * @throws {IdempotencyKeyReusedError} for a key that was used with other arguments
 * @throws {BadInputError | RequestNotFoundError | StateConflictError | NotReadyError}
 * @throws {PlanInvalidError | PlanningFailedError | NeedsInputError} when there never was a plan that can run
 */
export async function replan(context: OperationContext, input: ReplanInput): Promise<RequestDocument> {
  const requestId = parseRequestId(input.requestId);
  context.operation?.about(requestId);
  const note = parseText("note", input.note);
  const { execute } = input;
  const version = {
    note,
    execute,
    by: context.by,
    ...parseVersion(input, ["replan", requestId, note, execute]),
  };
  if (await context.isModelMissing?.()) throw modelMissing(await findRequest(context, requestId));
  const answer = await context.store.requestReplan(context.tenant, requestId, version);
  switch (answer.type) {
    case "replanning":
      context.operation?.about(requestId, answer.request.trace);
      context.offers.offerPlanning(answer.request);
      return answer.request;
    case "repeated":
      return answer.request;
    case "nothing failed":
      throw new StateConflictError(
        { requestId, status: "COMPLETED" },
        "Every step completed: there is nothing to replan",
        "Send another query with createPlan, or repeat steps with rerun(requestId, from).",
      );
    case "too many":
      throw new StateConflictError(
        { requestId, status: "FAILED" },
        `The plan of this request was already replanned ${answer.made} times`,
        "Send the query again with createPlan, in other words.",
      );
    default:
      return refuseVersion(requestId, answer, { can: "be replanned", version: "version" });
  }
}

/** Without a model, the planner would return the request unchanged. */
function modelMissing({ _id: requestId, status }: RequestDocument): StateConflictError {
  return new StateConflictError(
    { requestId, status },
    "No planner has a language model, and a replan needs one: nothing was changed",
    "Start the planner with MODEL set to a language model, such as openai:gpt-4o, and call again; or repeat the failed steps with rerun.",
  );
}
