import type { StepRun } from "@planwright/engine";
import { type JsonObject, type JsonValue, stringifyExactJson } from "@planwright/plan";
import type { PlanGraph, PlanHead } from "@planwright/store";
import { toolsOfSteps } from "../plans/step-views.ts";

/** Results of an execution for older clients, as JSON text. */
export interface ExecutionResults {
  results: string;
  outputs: string;
  errors: string[];
}

/** A step with its result. */
export type ExecutedStep = Pick<
  StepRun,
  "stepId" | "item" | "position" | "tool" | "status" | "error" | "durationMs"
> & {
  arguments: JsonObject | null;
  /** The output, or its reference. */
  output: JsonValue;
};

/** The fields of a plan that its results need. */
export type ExecutedPlan = Pick<PlanHead, "status" | "error"> & Pick<PlanGraph, "plan">;

/** The results of a plan's steps for older clients, in plan order. Pure. */
export function executionResults(plan: ExecutedPlan, recorded: readonly ExecutedStep[]): ExecutionResults {
  const steps = recorded.filter((step) => step.item === null).toSorted((a, b) => a.position - b.position);
  return {
    results: stringifyExactJson(steps.map(toResult)),
    outputs: stringifyExactJson(Object.fromEntries(namedOutputs(plan, steps))),
    errors: errorTexts(plan, steps),
  };
}

function toResult(step: ExecutedStep) {
  return {
    stepId: step.stepId,
    toolName: step.tool,
    status: step.status,
    success: step.status === "COMPLETED",
    parameters: step.arguments,
    output: step.output ?? null,
    error: step.error?.message ?? null,
    durationMs: step.durationMs,
  };
}

/** Outputs by tool name; by step id for the steps of a tool that the plan uses more than once. */
function namedOutputs(plan: ExecutedPlan, steps: readonly ExecutedStep[]): [string, JsonValue][] {
  const uses = new Map<string, number>();
  for (const tool of toolsOfSteps(plan).values()) uses.set(tool, (uses.get(tool) ?? 0) + 1);
  return steps
    .filter((step) => step.status === "COMPLETED")
    .map((step) => [uses.get(step.tool) === 1 ? step.tool : step.stepId, step.output ?? null]);
}

/** One text for each step that failed or is in doubt; the error of the plan when there is none. */
function errorTexts(plan: ExecutedPlan, steps: readonly ExecutedStep[]): string[] {
  const failed = steps.filter((step) => step.status === "FAILED" || step.status === "IN_DOUBT");
  const texts = failed.map((step) => `${step.stepId}: ${step.error?.message ?? step.status}`);
  if (texts.length > 0) return texts;
  if (plan.error) return [plan.error.message];
  return plan.status === "CANCELLED" ? ["The plan was cancelled"] : [];
}
