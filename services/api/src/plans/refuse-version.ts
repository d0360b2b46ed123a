import type { AmendAnswer, ReplanAnswer, RerunAnswer } from "@planwright/store";
import {
  MAX_NAMED,
  NotReadyError,
  RepeatNotAcceptedError,
  RequestNotFoundError,
  StateConflictError,
} from "../errors/api-error.ts";
import { invalid, throwIfNeverPlanned } from "./execute-plan.ts";

/** Why a plan gets no new version, for each of the three mutations. */
export type VersionRefusal = Extract<
  RerunAnswer | ReplanAnswer | AmendAnswer,
  {
    type:
      | "other version"
      | "not ended"
      | "in doubt"
      | "repeat not accepted"
      | "invalid"
      | "no plan"
      | "unknown";
  }
>;

/**
 * Throws the error that explains why there is no new version.
 * @param words - parts of the messages: the operation that needs an ended plan, and the noun for the
 * requested version
 * @throws {StateConflictError | RepeatNotAcceptedError | PlanInvalidError | PlanningFailedError | NeedsInputError | NotReadyError |
 * RequestNotFoundError}
 */
export function refuseVersion(
  requestId: string,
  answer: VersionRefusal,
  words: { can: string; version: string /** Default: "a plan that has ended". */; plans?: string },
): never {
  switch (answer.type) {
    case "other version": {
      const { status, version: currentVersion, planId } = answer.request;
      throw new StateConflictError(
        { requestId, status, currentVersion, planId },
        `Version ${currentVersion} of the plan is current, and the call names another one as fromVersion: no ${words.version} was made`,
        `Read the results of version ${currentVersion}; if it should ${words.can}, call again with fromVersion: ${currentVersion}.`,
      );
    }
    case "not ended":
      throw new StateConflictError(
        { requestId, status: answer.plan.status },
        `The plan is ${answer.plan.status}: only ${words.plans ?? "a plan that has ended"} can ${words.can}`,
        answer.plan.status === "READY"
          ? "Start it with executePlan."
          : `Wait for its end, or cancel it; it may be the ${words.version} that another client requested.`,
      );
    case "in doubt":
      throw new StateConflictError(
        { requestId, status: "IN_DOUBT", steps: answer.keys.slice(0, MAX_NAMED) },
        `It is not known whether the calls of these steps happened: ${answer.keys.slice(0, MAX_NAMED).join(", ")}`,
        "Settle each of them with resolveInDoubt, then call again.",
      );
    case "repeat not accepted":
      throw new RepeatNotAcceptedError({ requestId, keys: answer.keys });
    case "invalid":
      throw invalid(answer.request, answer.plan);
    case "no plan":
      throwIfNeverPlanned(answer.request);
      throw new NotReadyError({ requestId, planId: answer.request.planId });
    case "unknown":
      throw new RequestNotFoundError(requestId);
  }
}
