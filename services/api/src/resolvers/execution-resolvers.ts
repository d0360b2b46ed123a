import { toExecutionState } from "@planwright/plan";
import type { PlanHead } from "@planwright/store";
import type { ExecutionResults } from "../legacy/execution-results.ts";
import { readResults } from "../legacy/read-results.ts";
import type { GraphqlContext } from "../operation/context.ts";
import type { StepCounts } from "../plans/step-counts.ts";
import { readCounts } from "./plan-resolvers.ts";

/** The fields of a plan that an Execution needs. */
type ExecutedHead = Pick<PlanHead, "_id" | "status">;

/** Fields of Execution: the execution of a plan for older clients. */
export const executionResolvers = {
  id: (plan: ExecutedHead) => plan._id,
  planId: (plan: ExecutedHead) => plan._id,
  executionState: (plan: ExecutedHead) => toExecutionState(plan.status),
  totalExecutions: count("total"),
  successful: count("completed"),
  failed: count("failed"),
  skipped: count("skipped"),
  results: result("results"),
  outputs: result("outputs"),
  errors: result("errors"),
  plan: (plan: ExecutedHead) => plan,
};

function count(field: keyof StepCounts) {
  return async (plan: ExecutedHead, _: unknown, { reads }: GraphqlContext) =>
    (await readCounts(plan._id, reads))[field];
}

function result<Field extends keyof ExecutionResults>(field: Field) {
  return async (plan: ExecutedHead, _: unknown, context: GraphqlContext) =>
    (await readResults(plan._id, context))[field];
}
