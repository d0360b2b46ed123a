import { stepAdvice } from "@planwright/engine";
import { isTerminalPlanStatus, type JsonObject, type JsonValue, planningAdvice } from "@planwright/plan";
import type { PlanDocument, StepDocument } from "@planwright/store";
import { isOver } from "../live/is-over.ts";
import type { RequestSnapshot } from "../live/request-feed.ts";
import { outputsOfSteps } from "../plans/plan-outputs.ts";
import { settlementOf } from "../plans/settlement.ts";

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
  const report: JsonObject = {
    requestId: request._id,
    planId: request.planId,
    status: request.status,
    outputs: outputs ?? {},
  };
  if (request.error) report["error"] = told(request.error, planningAdvice(request.error.code));
  else if (plan?.error) report["error"] = told(plan.error, stepAdvice(plan.error.code));
  if (failed.length > 0) report["failedSteps"] = failed;
  const skipped = whole.filter(({ item, status }) => item === null && status === "SKIPPED").map(toFailure);
  if (skipped.length > 0) report["skippedSteps"] = skipped;
  if (open.length > 0) report["waitingSteps"] = open.map(({ key, status }) => ({ key, status }));
  const settled = plan ? whole.flatMap((step) => settledOf(plan, step)) : [];
  if (settled.length > 0) report["settledByOperators"] = settled;
  if (request.status === "NEEDS_INPUT") {
    report["questions"] = request.questions.map(({ question }) => question);
  }
  if (request.answer) report["answer"] = request.answer;
  return report;
}

/** What is known of a step from an operator alone. */
function settledOf(plan: PlanDocument, step: StepDocument): JsonValue[] {
  const word = settlementOf(plan, step);
  return word ? [{ key: step.key, resolution: word.resolution, by: word.by }] : [];
}

function toFailure({ key, tool, error }: StepDocument): JsonValue {
  const { code, message } = error ?? { code: "FAILED", message: "" };
  return { key, tool, ...told({ code, message }, stepAdvice(code)) };
}

function told({ code, message }: { code: string; message: string }, { remedy }: { remedy: string }) {
  return { code, message, remedy };
}
