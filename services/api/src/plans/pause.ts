import { isTerminalPlanStatus } from "@planwright/plan";
import type { PlanDocument, PlanHead, RequestDocument } from "@planwright/store";
import { NotReadyError, StateConflictError } from "../errors/api-error.ts";
import type { OperationContext } from "../operation/context.ts";
import { findRequest } from "./find-request.ts";

/**
 * Pauses a request's plan: no new call starts; running calls finish and are recorded. A repeated call
 * succeeds while the plan is paused or being paused.
 * @throws {BadInputError | RequestNotFoundError | NotReadyError}
 * @throws {StateConflictError} for a plan that was not started, is being cancelled, or has ended
 */
export async function pauseRequest(context: OperationContext, requestId: string): Promise<RequestDocument> {
  const request = await findRequest(context, requestId);
  const plan = await context.store.requestPause(context.tenant, request.planId, context.by);
  if (!isResumable(plan)) throw refuseControl(request, plan, "paused");
  return request;
}

/**
 * Resumes a plan that is paused or being paused.
 * @throws {BadInputError | RequestNotFoundError | NotReadyError}
 * @throws {StateConflictError} for any other plan
 */
export async function resumeRequest(context: OperationContext, requestId: string): Promise<RequestDocument> {
  const request = await findRequest(context, requestId);
  const before = await context.store.getPlan(context.tenant, request.planId);
  const plan = await context.store.requestResume(context.tenant, request.planId, context.by);
  const isResumed =
    before?.pauseRequestedAt && !plan?.pauseRequestedAt && !plan?.cancelRequestedAt && !plan?.finishedAt;
  if (!isResumed) throw refuseControl(request, plan, "resumed");
  if (plan?.status === "QUEUED") context.offers.offerExecution(plan);
  return request;
}

/**
 * Checks whether `resumeRequest` would be refused now; nothing is changed.
 * @throws {NotReadyError | StateConflictError} the reason of the refusal
 */
export async function checkResume(
  { store, tenant }: Pick<OperationContext, "store" | "tenant">,
  request: RequestDocument,
): Promise<void> {
  const [plan = null] = await store.getPlanHeads(tenant, [request.planId]);
  if (!isResumable(plan)) throw refuseControl(request, plan, "resumed");
}

/** True for a plan that is paused or being paused. */
export function isResumable(
  plan: Pick<PlanHead, "pauseRequestedAt" | "cancelRequestedAt" | "finishedAt"> | null | undefined,
): boolean {
  return Boolean(plan?.pauseRequestedAt && !plan.cancelRequestedAt && !plan.finishedAt);
}

/**
 * Cancels a request's plan, or its planning. A repeated call succeeds, for example after a lost answer.
 * @throws {BadInputError | RequestNotFoundError | NotReadyError}
 * @throws {StateConflictError} for a plan that has ended in another status, and for a request without a plan
 */
export async function cancelRequest(context: OperationContext, requestId: string): Promise<RequestDocument> {
  const request = await findRequest(context, requestId);
  if (request.status === "PLANNING") {
    const cancelled = await context.store.cancelPlanning(context.tenant, request._id, context.by);
    if (cancelled) return cancelled;
  }
  const plan = await context.store.requestCancel(context.tenant, request.planId, context.by);
  if (plan?.cancelRequestedAt && !plan.finishedAt) {
    // With an offer, a queued plan ends at once instead of at the next sweep.
    context.offers.offerExecution(plan);
  } else if (plan?.status !== "CANCELLED" && request.status !== "CANCELLED") {
    const now = await findRequest(context, requestId);
    // The plan has ended in between, and the request is being replanned.
    if (now.status === "PLANNING") return cancelRequest(context, requestId);
    throw refuseControl(now, plan, "cancelled");
  }
  return findRequest(context, requestId);
}

/**
 * Checks whether `cancelRequest` would be refused now; nothing is changed.
 * @throws {NotReadyError | StateConflictError} the reason of the refusal
 */
export async function checkCancel(
  { store, tenant }: Pick<OperationContext, "store" | "tenant">,
  request: RequestDocument,
): Promise<void> {
  if (request.status === "PLANNING" || request.status === "CANCELLED") return;
  const [plan = null] = await store.getPlanHeads(tenant, [request.planId]);
  const isOpen = plan !== null && !isTerminalPlanStatus(plan.status);
  if (!isOpen && plan?.status !== "CANCELLED") throw refuseControl(request, plan, "cancelled");
}

/** The requested control, for the text "nothing was …". */
type Control = "cancelled" | "paused" | "resumed";

/**
 * The error that explains why a plan was not cancelled, paused or resumed.
 * @param plan - in its current state; null without a plan
 */
function refuseControl(
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
