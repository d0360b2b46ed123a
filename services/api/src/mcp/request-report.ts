import { stepAdvice } from "@planwright/engine";
import { type JsonObject, type JsonValue, planningAdvice, stepNeedsPerson } from "@planwright/plan";
import type { PlanHead, StepHead } from "@planwright/store";
import type { RequestSnapshot } from "../feeds/request-feed.ts";
import { toJson } from "../operation/output-reference.ts";
import type { PlanOutputs } from "../outputs/plan-outputs.ts";
import { settlementOf } from "../plans/settlement.ts";

/** Most warnings of steps in one report. */
const MAX_WARNINGS = 20;

/** Progress of a request. */
export interface RequestProgress {
  done: number;
  total: number;
  message: string;
}

/** Counts ended steps. Pure. */
export function progressOf({ request, plan, steps }: RequestSnapshot): RequestProgress {
  const withoutItems = steps.filter(({ item }) => item === null);
  const done = withoutItems.filter(({ finishedAt }) => finishedAt !== null).length;
  const running = withoutItems.filter(({ status }) => status === "RUNNING").map(({ key }) => key);
  const now = running.length > 0 ? `, now ${running.join(", ")}` : "";
  return { done, total: withoutItems.length, message: `${plan?.status ?? request.status}${now}` };
}

/**
 * A request as the result of a tool: ids, status, requested outputs, failures, and the decisions that it
 * needs, without the plan. Pure.
 * @param outputs - outputs of a plan that has ended
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
  if (request.error) report["error"] = toProblem(request.error, planningAdvice(request.error.code));
  else if (plan?.error) report["error"] = toProblem(plan.error, stepAdvice(plan.error.code));
  if (failed.length > 0) report["failedSteps"] = failed;
  const skipped = steps.filter(({ item, status }) => item === null && status === "SKIPPED").map(toFailure);
  if (skipped.length > 0) report["skippedSteps"] = skipped;
  const warnings = steps.flatMap(({ key, warnings: texts }) => texts.map((message) => ({ key, message })));
  if (warnings.length > 0) report["warnings"] = warnings.slice(0, MAX_WARNINGS);
  if (open.length > 0) report["waitingSteps"] = open.map(({ key, status }) => ({ key, status }));
  const settled = plan ? steps.flatMap((step) => settledOf(plan, step)) : [];
  if (settled.length > 0) report["settledByOperators"] = settled;
  if (request.status === "NEEDS_INPUT") {
    report["questions"] = request.questions.map(({ question }) => question);
  }
  if (request.answer) report["answer"] = request.answer;
  return report;
}

/** The decision of an operator that gave a step its status. */
function settledOf(plan: PlanHead, step: StepHead): JsonValue[] {
  const settled = settlementOf(plan, step);
  return settled ? [{ key: step.key, resolution: settled.resolution, by: settled.by }] : [];
}

function toFailure(step: StepHead): JsonValue {
  const { key, tool, error, effect } = step;
  const { code, message } = error ?? { code: "FAILED", message: "" };
  const advice = stepAdvice(code, undefined, step);
  return { key, tool, ...(effect && { effect }), ...toProblem({ code, message }, advice) };
}

function toProblem({ code, message }: { code: string; message: string }, { remedy }: { remedy: string }) {
  return { code, message, remedy };
}
