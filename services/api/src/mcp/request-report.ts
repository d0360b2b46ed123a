import { stepAdvice } from "@planwright/engine";
import { type JsonObject, type JsonValue, planningAdvice, stepNeedsPerson } from "@planwright/plan";
import type { PlanHead, StepHead } from "@planwright/store";
import type { RequestSnapshot } from "../feeds/request-feed.ts";
import { toJson } from "../operation/output-reference.ts";
import type { PlanOutputs } from "../outputs/plan-outputs.ts";
import { settlementOf } from "../plans/settlement.ts";

/** How far a request is, for a progress bar. */
export interface RequestProgress {
  done: number;
  total: number;
  message: string;
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
 * A request in the words of a tool's result: ids, status, the requested outputs, what failed, and what a client or operator has to say.
 * Nothing of the plan itself. Pure.
 * @param outputs - of a plan that is over
 */
export function reportOf({ request, plan, steps }: RequestSnapshot, outputs: PlanOutputs | null): JsonObject {
  const failed = steps.filter(({ item, status }) => item === null && status === "FAILED").map(toFailure);
  const open = steps.filter(({ status }) => stepNeedsPerson(status));
  const report: JsonObject = {
    requestId: request._id,
    planId: request.planId,
    status: request.status,
    outputs: Object.fromEntries([...(outputs ?? [])].map(([name, kept]) => [name, toJson(kept)])),
  };
  if (request.error) report["error"] = told(request.error, planningAdvice(request.error.code));
  else if (plan?.error) report["error"] = told(plan.error, stepAdvice(plan.error.code));
  if (failed.length > 0) report["failedSteps"] = failed;
  const skipped = steps.filter(({ item, status }) => item === null && status === "SKIPPED").map(toFailure);
  if (skipped.length > 0) report["skippedSteps"] = skipped;
  if (open.length > 0) report["waitingSteps"] = open.map(({ key, status }) => ({ key, status }));
  const settled = plan ? steps.flatMap((step) => settledOf(plan, step)) : [];
  if (settled.length > 0) report["settledByOperators"] = settled;
  if (request.status === "NEEDS_INPUT") {
    report["questions"] = request.questions.map(({ question }) => question);
  }
  if (request.answer) report["answer"] = request.answer;
  return report;
}

/** What is known of a step from an operator alone. */
function settledOf(plan: PlanHead, step: StepHead): JsonValue[] {
  const word = settlementOf(plan, step);
  return word ? [{ key: step.key, resolution: word.resolution, by: word.by }] : [];
}

function toFailure({ key, tool, error }: StepHead): JsonValue {
  const { code, message } = error ?? { code: "FAILED", message: "" };
  return { key, tool, ...told({ code, message }, stepAdvice(code)) };
}

function told({ code, message }: { code: string; message: string }, { remedy }: { remedy: string }) {
  return { code, message, remedy };
}
