import { toExecutionState } from "@planwright/plan";
import type { PlanDocument } from "@planwright/store";
import { type ExecutionResults, executionResults } from "../legacy/execution-results.ts";
import { countSteps, type StepCounts } from "../plans/step-counts.ts";
import type { GraphqlContext } from "./context.ts";

/** Fields of Execution, which is a plan as older clients read its execution. */
export const executionResolvers = {
  id: (plan: PlanDocument) => plan._id,
  planId: (plan: PlanDocument) => plan._id,
  executionState: (plan: PlanDocument) => toExecutionState(plan.status),
  totalExecutions: count("total"),
  successful: count("completed"),
  failed: count("failed"),
  skipped: count("skipped"),
  results: result("results"),
  outputs: result("outputs"),
  errors: result("errors"),
  plan: (plan: PlanDocument) => plan,
};

function count(field: keyof StepCounts) {
  return async (plan: PlanDocument, _: unknown, { reads }: GraphqlContext) =>
    countSteps(plan, await reads.steps(plan._id))[field];
}

function result<Field extends keyof ExecutionResults>(field: Field) {
  return async (plan: PlanDocument, _: unknown, { reads }: GraphqlContext) =>
    executionResults(plan, await reads.wholeSteps(plan._id))[field];
}
