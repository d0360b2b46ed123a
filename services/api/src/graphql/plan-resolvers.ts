import { isTerminalPlanStatus, toExecutionState } from "@planwright/plan";
import type { ModelCallDocument, PlanDocument } from "@planwright/store";
import { executionResults } from "../legacy/execution-results.ts";
import { selectedTools, toolOrder } from "../legacy/selected-tools.ts";
import { outputsOfSteps } from "../plans/plan-outputs.ts";
import { readStepPage, type StepPageArguments } from "../plans/step-connection.ts";
import { countSteps } from "../plans/step-counts.ts";
import { type StepView, stepViews } from "../plans/step-views.ts";
import { planWaitReason } from "../plans/wait-reason.ts";
import type { GraphqlContext } from "./context.ts";

/** Fields of Plan that its document does not have under the same name, or not in the same form. */
export const planResolvers = {
  id: (plan: PlanDocument) => plan._id,
  planId: (plan: PlanDocument) => plan._id,
  request: (plan: PlanDocument, _: unknown, { reads }: GraphqlContext) => reads.request(plan.requestId),
  async query(plan: PlanDocument, _: unknown, { reads }: GraphqlContext) {
    return (await reads.request(plan.requestId))?.query ?? "";
  },
  executionState: (plan: PlanDocument) => toExecutionState(plan.status),
  document: (plan: PlanDocument) => plan.plan,
  async steps(plan: PlanDocument, _: unknown, { reads, here }: GraphqlContext) {
    const [recorded, facts] = await Promise.all([reads.steps(plan._id), here()]);
    return stepViews(plan, recorded, facts);
  },
  stepsConnection: (plan: PlanDocument, page: StepPageArguments, context: GraphqlContext) =>
    readStepPage(plan, page, context),
  async counts(plan: PlanDocument, _: unknown, { reads }: GraphqlContext) {
    return countSteps(plan, await reads.steps(plan._id));
  },
  async outputs(plan: PlanDocument, _: unknown, { reads }: GraphqlContext) {
    return plan.outputs ?? outputsOfSteps(plan, await reads.wholeSteps(plan._id));
  },
  waitReason: async (plan: PlanDocument, _: unknown, { here }: GraphqlContext) =>
    planWaitReason(plan, await here()),
  executor: (plan: PlanDocument) => plan.lease?.owner ?? null,
  durationMs(plan: PlanDocument, _: unknown, { nowMs }: GraphqlContext) {
    if (!plan.startedAt) return null;
    return Math.max(0, (plan.finishedAt?.getTime() ?? nowMs) - plan.startedAt.getTime());
  },
  resolutions: (plan: PlanDocument) =>
    plan.resolutions.map(({ key, attempt, resolution, by, at }) => ({
      stepKey: key,
      attempt,
      resolution: resolution.type,
      by,
      at,
    })),
  plan: (plan: PlanDocument) => JSON.stringify(plan.plan),
  selectedTools: (plan: PlanDocument) => selectedTools(plan.plan),
  toolOrder: (plan: PlanDocument) => toolOrder(plan.plan),
  async executionResults(plan: PlanDocument, _: unknown, { reads }: GraphqlContext) {
    if (!isTerminalPlanStatus(plan.status) || plan.status === "INVALID") return null;
    return executionResults(plan, await reads.wholeSteps(plan._id)).results;
  },
  validationResult: (plan: PlanDocument) => JSON.stringify(plan.diagnostics),
};

/** Fields of Step. */
export const stepResolvers = {
  id: ({ recorded }: StepView) => recorded.stepId,
  key: ({ recorded }: StepView) => recorded.key,
  settled: ({ settlement }: StepView) => settlement,
  item: ({ recorded }: StepView) => recorded.item,
  tool: ({ recorded }: StepView) => recorded.tool,
  status: ({ recorded }: StepView) => recorded.status,
  resolvedArguments: ({ recorded }: StepView) => recorded.arguments,
  resolvedArgumentsPreview: ({ recorded }: StepView) =>
    recorded.argumentsPreview ? { ...recorded.argumentsPreview, hash: recorded.argsHash } : null,
  output: ({ recorded }: StepView, _: unknown, { reads }: GraphqlContext) => reads.output(recorded),
  error: ({ recorded: { error, status } }: StepView) => error && { ...error, status },
  warnings: ({ recorded }: StepView) => recorded.warnings,
  approvalHash: ({ recorded }: StepView) => recorded.approvalHash ?? null,
  approved: ({ recorded }: StepView) => recorded.approved,
  carriedFrom: ({ recorded }: StepView) => recorded.carriedFrom ?? null,
  effectClass: ({ recorded }: StepView) => recorded.effectClass,
  attempts: ({ recorded }: StepView) => recorded.attempts,
  nextAttemptAt: ({ recorded }: StepView) => recorded.nextAttemptAt,
  startedAt: ({ recorded }: StepView) => recorded.startedAt,
  finishedAt: ({ recorded }: StepView) => recorded.finishedAt,
  durationMs: ({ recorded }: StepView) => recorded.durationMs,
};

/** Fields of ModelCall that its document does not have under the same name, or that older ones lack. */
export const modelCallResolvers = {
  id: (call: ModelCallDocument) => call._id,
  pricing: (call: ModelCallDocument) => call.pricing ?? (call.model === "offline" ? "none" : "unpriced"),
  attempt: (call: ModelCallDocument) => call.attempt ?? 1,
  endedAt: ({ endedAt, createdAt }: ModelCallDocument) => (endedAt === undefined ? createdAt : endedAt),
};
