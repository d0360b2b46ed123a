import { OVER_REQUEST_STATUSES, REQUEST_STATUSES_WITH_RESULTS } from "@planwright/plan";
import type { PlanSnapshot, RequestSnapshot, StepSnapshot } from "../api/request-snapshot.ts";

/** What only a client or operator can do for a request: answer, start it, approve, settle a doubt, let it go on. */
export type Need = "input" | "start" | "approval" | "doubt" | "resume";

/** Who a request waits for; null while it goes on by itself, and when it is over. */
export function needOf(request: RequestSnapshot): Need | null {
  if (request.status === "NEEDS_INPUT") return "input";
  const { plan } = request;
  if (request.status === "READY" && !request.autoExecute) return "start";
  if (request.status !== "EXECUTING" || !plan) return null;
  if (plan.status === "PAUSED") return "resume";
  if (plan.status !== "WAITING") return null;
  // A word that was given counts before an executor has heard of it.
  if (plan.waitReason === "approval" && stepsToApprove(plan).length > 0) return "approval";
  if (plan.waitReason === "in doubt" && stepsInDoubt(plan).length > 0) return "doubt";
  return null;
}

/** Steps that wait for an approval that is neither given nor refused yet. */
export function stepsToApprove({ steps, approvals }: PlanSnapshot): StepSnapshot[] {
  return steps.filter(
    (step) =>
      step.status === "WAITING_APPROVAL" &&
      step.approvalHash !== null &&
      !approvals.some((word) => word.stepId === step.id && word.approvalHash === step.approvalHash),
  );
}

/** Steps and items in doubt that no operator has settled yet; a forEach step whose items can be settled is not one of them. */
export function stepsInDoubt({ steps, resolutions }: PlanSnapshot): StepSnapshot[] {
  const open = steps.filter(
    (step) =>
      step.status === "IN_DOUBT" &&
      !resolutions.some((word) => word.stepKey === step.key && word.attempt === step.attempts.length),
  );
  const hasItems = (step: StepSnapshot) => open.some((one) => one.id === step.id && one.item !== null);
  return open.filter((step) => step.item !== null || !hasItems(step));
}

/** Statuses of a request to which nothing happens by itself any more. */
export const OVER: ReadonlySet<string> = new Set(OVER_REQUEST_STATUSES);

/** Nothing will change any more. */
export function isOver(request: RequestSnapshot): boolean {
  return OVER.has(request.status) && !awaitsAnswer(request);
}

const WITH_RESULTS: ReadonlySet<string> = new Set(REQUEST_STATUSES_WITH_RESULTS);

/** The plan is over, and its results are being told in words. */
export function awaitsAnswer({ status, answerRequested, answer, answerError }: RequestSnapshot): boolean {
  return WITH_RESULTS.has(status) && answerRequested && answer === null && answerError === null;
}

/** Nothing will change unless a client or operator acts. */
export function isAtRest(request: RequestSnapshot): boolean {
  return isOver(request) || needOf(request) !== null;
}
