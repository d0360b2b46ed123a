import { isTerminalPlanStatus, type JsonObject, type JsonValue } from "@planwright/plan";
import type { StepDocument } from "@planwright/store";
import { isOver } from "../live/is-over.ts";
import type { RequestSnapshot } from "../live/request-feed.ts";
import { outputsOfSteps } from "../plans/plan-outputs.ts";

/** How far a request is, for a progress bar. */
export interface RequestProgress {
  done: number;
  total: number;
  message: string;
}

/** True when nothing more happens to a request by itself: it is over, or somebody has to say something. */
export function isAtRest({ request, plan }: RequestSnapshot): boolean {
  if (isOver(request) || request.status === "NEEDS_INPUT" || request.status === "READY") return true;
  if (plan?.status === "PAUSED") return true;
  return plan?.status === "WAITING" && (plan.waitReason === "approval" || plan.waitReason === "in doubt");
}

/** Steps that are over, of all. Pure. */
export function progressOf({ request, plan, steps }: RequestSnapshot): RequestProgress {
  const own = steps.filter(({ item }) => item === null);
  const done = own.filter(({ finishedAt }) => finishedAt !== null).length;
  const running = own.filter(({ status }) => status === "RUNNING").map(({ key }) => key);
  const now = running.length > 0 ? `, now ${running.join(", ")}` : "";
  return { done, total: own.length, message: `${plan?.status ?? request.status}${now}` };
}

/**
 * A request in the words of a tool's result: ids, status, the requested outputs, what failed, and what somebody has to say.
 * Nothing of the plan itself. Pure.
 * @param whole - the steps with their outputs, however large
 */
export function reportOf({ request, plan }: RequestSnapshot, whole: readonly StepDocument[]): JsonObject {
  const outputs = plan && isTerminalPlanStatus(plan.status) ? outputsOfSteps(plan, whole) : null;
  const failed = whole.filter(({ item, status }) => item === null && status === "FAILED").map(toFailure);
  const open = whole.filter(({ status }) => status === "WAITING_APPROVAL" || status === "IN_DOUBT");
  const error = request.error ?? plan?.error ?? null;
  const report: JsonObject = {
    requestId: request._id,
    planId: request.planId,
    status: request.status,
    outputs: outputs ?? {},
  };
  if (error) report["error"] = { code: error.code, message: error.message };
  if (failed.length > 0) report["failedSteps"] = failed;
  if (open.length > 0) report["waitingSteps"] = open.map(({ key, status }) => ({ key, status }));
  if (request.status === "NEEDS_INPUT") report["questions"] = [...request.questions];
  if (request.answer) report["answer"] = request.answer;
  return report;
}

function toFailure({ key, tool, error }: StepDocument): JsonValue {
  return { key, tool, code: error?.code ?? "FAILED", message: error?.message ?? "" };
}
