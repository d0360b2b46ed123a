import type { RequestDocument } from "@planwright/store";
import { parseChanges } from "../arguments/plan-input.ts";
import {
  parseAcceptRepeat,
  parseRequestId,
  parseStepId,
  parseText,
  parseVersion,
  type RepeatInput,
  type VersionInput,
} from "../arguments/text.ts";
import { MAX_NAMED, PlanInvalidError, StateConflictError, StepNotFoundError } from "../errors/api-error.ts";
import type { OperationContext } from "../operation/context.ts";
import { refuseVersion } from "./execute-plan.ts";
import { findRequest } from "./find-request.ts";

/** Arguments of the mutation rerun. */
export interface RerunInput extends VersionInput, RepeatInput {
  requestId: string;
  /** Default: only steps that did not complete. */
  from?: string | null;
  /** New arguments for steps that run again. */
  arguments?: readonly { stepId: string; set: unknown }[] | null;
  execute: boolean;
  /** Only checks whether the rerun would be refused; nothing is changed. Default false. */
  dryRun?: boolean | undefined;
}

/**
 * Makes a new version of an ended plan; completed steps are carried over. A sentence whose planning failed is
 * planned again. A repeated key makes no second version.
 * @throws {IdempotencyKeyReusedError} for a key that was used with other arguments
 * @throws {BadInputError | RequestNotFoundError | StepNotFoundError | StateConflictError | NotReadyError}
 * @throws {PlanInvalidError | PlanningFailedError | NeedsInputError} when there never was a plan that can run
 */
export async function rerun(context: OperationContext, input: RerunInput): Promise<RequestDocument> {
  const requestId = parseRequestId(input.requestId);
  context.operation?.about(requestId);
  const from = input.from === undefined || input.from === null ? null : parseStepId(input.from);
  const changes = parseChanges(input.arguments ?? []);
  const acceptRepeat = parseAcceptRepeat(input);
  const answer = await context.store.rerunPlan(context.tenant, requestId, {
    by: context.by,
    from,
    autoExecute: input.execute,
    changes,
    dryRun: input.dryRun,
    acceptRepeat,
    ...parseVersion(input, ["rerun", requestId, from, changes, input.execute, ...acceptRepeat]),
  });
  switch (answer.type) {
    case "rerun":
      context.operation?.about(requestId, answer.request.trace);
      if (input.execute && !input.dryRun) context.offers.offerExecution(answer.plan);
      return answer.request;
    case "planning":
      context.operation?.about(requestId, answer.request.trace);
      if (!input.dryRun) context.offers.offerPlanning(answer.request);
      return answer.request;
    case "repeated":
      return answer.request;
    case "nothing failed":
      throw new StateConflictError(
        { requestId, status: "COMPLETED" },
        "Every step completed: there is nothing to run again",
        "Give in from the step to start with.",
      );
    case "unknown step":
      throw new StepNotFoundError({ requestId, stepId: answer.stepId });
    case "completed step":
      throw new StateConflictError(
        { requestId, stepId: answer.stepId, status: "COMPLETED" },
        `Step '${answer.stepId}' has completed and is never called again: its arguments cannot change`,
        "Change steps that failed or were skipped; for another call of this one, submit a new plan with submitPlan.",
      );
    case "may have acted":
      throw new StateConflictError(
        { requestId, steps: answer.keys.slice(0, MAX_NAMED), status: "FAILED" },
        `A call of these steps had an effect, or may have had one: ${answer.keys.slice(0, MAX_NAMED).join(", ")}. With other arguments it would be a second call`,
        "First rerun it without other arguments: a call with an idempotency key then acts once. Or name the step in acceptRepeat.",
      );
    case "invalid arguments":
      throw new PlanInvalidError({ requestId, planId: answer.plan._id }, answer.diagnostics, {
        remedy: "Correct the arguments as the diagnostics say and try again; nothing was stored.",
      });
    default:
      return refuseVersion(requestId, answer, { can: "run again", version: "rerun" });
  }
}

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
        "Change the plan yourself with amendPlan, or run what did not complete with rerun: completed steps are kept.",
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
