import { isTerminalPlanStatus } from "@planwright/plan";
import type { PlanDocument, RequestDocument } from "@planwright/store";
import { StateConflictError } from "../errors/plan-errors.ts";
import { NotReadyError } from "../errors/planning-errors.ts";

/** The requested control, for the text "nothing was …". */
export type Control = "cancelled" | "paused" | "resumed";

/**
 * The error that explains why a plan was not cancelled, paused or resumed.
 * @param plan - in its current state; null without a plan
 */
export function refuseControl(
  request: RequestDocument,
  plan: Pick<PlanDocument, "status" | "cancelRequestedAt"> | null,
  control: Control,
): StateConflictError | NotReadyError {
  const requestId = request._id;
  if (request.status === "PLANNING") return new NotReadyError({ requestId, planId: request.planId });
  const nothing = `nothing was ${control}`;
  if (!plan) {
    return new StateConflictError(
      { requestId, status: request.status },
      `The request is ${request.status} and has no plan: ${nothing}`,
      request.status === "NEEDS_INPUT"
        ? "Nothing runs. Answer its openQuestions with answerQuestions, or leave them unanswered."
        : "Nothing runs: request(requestId).error has the reason why no plan was made.",
    );
  }
  const facts = { requestId, status: plan.status };
  if (isTerminalPlanStatus(plan.status)) {
    return new StateConflictError(
      facts,
      `The plan has ended, it is ${plan.status}: ${nothing}`,
      plan.status === "COMPLETED"
        ? "Read its outputs: request(requestId) { plan { outputs } }."
        : "Nothing runs. request(requestId) shows how it ended; rerun runs the steps that did not complete.",
    );
  }
  if (plan.cancelRequestedAt) {
    return new StateConflictError(
      facts,
      `Cancellation of the plan was requested at ${plan.cancelRequestedAt.toISOString()}: ${nothing}`,
      "Wait until it is CANCELLED; rerun then runs the steps that did not complete.",
    );
  }
  if (plan.status === "READY") {
    return new StateConflictError(
      facts,
      `The plan is READY and was not started: ${nothing}`,
      "Start it with executePlan, or end it with cancel.",
    );
  }
  return new StateConflictError(
    facts,
    `The plan is ${plan.status} and not paused: ${nothing}`,
    "No action is needed: it continues by itself. waitReason of the plan and of its steps shows why it waits.",
  );
}
