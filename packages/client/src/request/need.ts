import {
  ENDED_REQUEST_STATUSES,
  REQUEST_STATUSES_WITH_RESULTS,
  type StateLook,
  stateLook,
} from "@planwright/plan";
import type { PlanRun, RequestRun, StepRun } from "./run.ts";

/**
 * The decision of a client or operator that a request waits for: answer a question, start it, approve a step,
 * settle a doubt, resume it.
 */
export type Need = "input" | "start" | "approval" | "doubt" | "resume";

/** The decision that a request waits for; null while it continues by itself, and when it has ended. */
export function needOf(request: RequestRun): Need | null {
  if (request.status === "NEEDS_INPUT") return "input";
  const { plan } = request;
  if (request.status === "READY" && !request.autoExecute) return "start";
  if (request.status !== "EXECUTING" || !plan) return null;
  if (plan.status === "PAUSED") return "resume";
  if (plan.status !== "WAITING") return null;
  // A decision counts as soon as it is recorded, before an executor has read it.
  if (plan.waitReason === "approval" && stepsToApprove(plan).length > 0) return "approval";
  if (plan.waitReason === "in doubt" && stepsInDoubt(plan).length > 0) return "doubt";
  return null;
}

/** Steps that wait for an approval and have no decision yet. */
export function stepsToApprove<Step extends StepRun>({
  steps,
  approvals,
}: Pick<PlanRun, "approvals"> & { steps: readonly Step[] }): Step[] {
  return steps.filter(
    (step) =>
      step.status === "WAITING_APPROVAL" &&
      step.approvalHash !== null &&
      !approvals.some(({ stepId, approvalHash }) => stepId === step.id && approvalHash === step.approvalHash),
  );
}

/**
 * Steps and items in doubt that no operator has settled yet. A forEach step is left out if one of its items
 * is in the list.
 */
export function stepsInDoubt<Step extends StepRun>({
  steps,
  resolutions,
}: Pick<PlanRun, "resolutions"> & { steps: readonly Step[] }): Step[] {
  const open = steps.filter(
    (step) =>
      step.status === "IN_DOUBT" &&
      !resolutions.some(({ stepKey, attempt }) => stepKey === step.key && attempt === step.attempts.length),
  );
  const hasItems = (step: Step) => open.some((one) => one.id === step.id && one.item !== null);
  return open.filter((step) => step.item !== null || !hasItems(step));
}

/** The words, mark and tone of a request: while it is executed, those of its plan. Pure. */
export function requestLook({ status, waitReason, plan }: ShownRequest): StateLook {
  if (status !== "EXECUTING" || !plan) return stateLook("request", { status, waitReason });
  return plan.status === "RUNNING"
    ? stateLook("request", { status, waitReason: plan.waitReason })
    : stateLook("plan", plan);
}

/** The part of a request that {@link requestLook} reads. */
interface ShownRequest {
  status: string;
  waitReason: string | null;
  plan: { status: string; waitReason: string | null } | null;
}

/** Statuses of a request that has ended. */
export const ENDED: ReadonlySet<string> = new Set(ENDED_REQUEST_STATUSES);

/** True when nothing will change any more. */
export function hasEnded(request: RequestRun): boolean {
  return ENDED.has(request.status) && !awaitsAnswer(request);
}

const WITH_RESULTS: ReadonlySet<string> = new Set(REQUEST_STATUSES_WITH_RESULTS);

/** True when the plan has ended and a model is still writing the answer in words. */
export function awaitsAnswer({ status, answerRequested, answer, answerError }: RequestRun): boolean {
  return WITH_RESULTS.has(status) && answerRequested && answer === null && answerError === null;
}

/** True when nothing will change unless a client or operator acts. */
export function isAtRest(request: RequestRun): boolean {
  return hasEnded(request) || needOf(request) !== null;
}
