import type { StepRun } from "@planwright/engine";
import { isTerminalPlanStatus, stringifyExactJson, toExecutionState } from "@planwright/plan";
import { isStepWanted, type ModelCallHead, type PlanGraph, type PlanHead } from "@planwright/store";
import type { GraphqlContext } from "../operation/context.ts";
import { readOutputReferences, readPlanOutputs } from "../operation/plan-outputs.ts";
import { type KeptOutput, type Reads, toJson } from "../operation/reads.ts";
import { planHashOf } from "../plans/execute-plan.ts";
import {
  type PlanThen,
  planTimes,
  planWaitReason,
  readStepPage,
  type ShownStep,
  type StepCounts,
  type StepFilterArgument,
  type StepPageArguments,
  shownDeadlineOf,
  shownExpiryOf,
  stepViews,
  toStepCounts,
  toStepFilter,
} from "../plans/step-views.ts";
import { readResults, selectedTools, toolOrder } from "./older-api.ts";

/** The parent value of the fields of Plan; its large parts are read only if they are selected. */
type PlanParent = Omit<
  PlanHead,
  "steps" | "stepTools" | "graphBytes" | "textBytes" | "resultBytes" | "smallOutputs"
> & { past?: PlanThen };

/** True for a plan that had not ended at the entry that was asked for: what it returned came later. */
const isOpenPast = ({ past, finishedAt }: PlanParent): boolean => past !== undefined && finishedAt === null;

/** Numbers of steps by status: from the document of an ended plan, otherwise counted. */
export async function readCounts(planId: PlanHead["_id"], reads: Reads): Promise<StepCounts> {
  const head = await reads.plan(planId);
  return toStepCounts(head?.steps ?? 0, head?.counts ?? (await reads.stepCounts(planId)));
}

/** Makes text from a plan document, and counts its size each time. */
function madeOfGraph<T>(make: (graph: PlanGraph) => T) {
  return async (plan: PlanParent, _: unknown, { reads, bytes }: GraphqlContext) => {
    const graph = await reads.graph(plan._id);
    await bytes.making((await reads.plan(plan._id))?.graphBytes ?? 0);
    return make(graph ?? { _id: plan._id, plan: null });
  };
}

/** Fields of Plan that its head does not have, or has with another name or form. */
export const planResolvers = {
  id: (plan: PlanParent) => plan._id,
  planId: (plan: PlanParent) => plan._id,
  request: (plan: PlanParent, _: unknown, { reads }: GraphqlContext) => reads.request(plan.requestId),
  async query(plan: PlanParent, _: unknown, { reads }: GraphqlContext) {
    return (await reads.request(plan.requestId))?.query ?? "";
  },
  executionState: (plan: PlanParent) => toExecutionState(plan.status),
  document: async (plan: PlanParent, _: unknown, { reads }: GraphqlContext) =>
    (await reads.graph(plan._id))?.plan ?? null,
  planHash: madeOfGraph(planHashOf),
  raw: async (plan: PlanParent, _: unknown, { reads }: GraphqlContext) =>
    (await reads.texts(plan._id))?.raw ?? null,
  diagnostics: async (plan: PlanParent, _: unknown, { reads }: GraphqlContext) =>
    (await reads.texts(plan._id))?.diagnostics ?? [],
  async steps(
    plan: PlanParent,
    { filter }: { filter?: StepFilterArgument | null },
    { reads, liveWorkers }: GraphqlContext,
  ) {
    const graph = await reads.graph(plan._id);
    const wanted = graph && toStepFilter(graph, filter ?? {});
    if (!graph || !wanted) return [];
    const steps =
      plan.past?.steps(graph) ??
      stepViews({ ...plan, ...graph }, await reads.steps(plan._id), await liveWorkers());
    return steps.filter((step) => isStepWanted(step, wanted));
  },
  stepsConnection: (plan: PlanParent, page: StepPageArguments, context: GraphqlContext) =>
    readStepPage(plan, page, context),
  counts: ({ _id, past }: PlanParent, _: unknown, { reads }: GraphqlContext) =>
    past?.counts ?? readCounts(_id, reads),
  mayHaveActed: ({ past, mayHaveActed = 0 }: PlanParent) => past?.mayHaveActed ?? mayHaveActed,
  async outputs(plan: PlanParent, _: unknown, context: GraphqlContext) {
    if (isOpenPast(plan)) return null;
    const outputs = await readPlanOutputs(plan._id, context);
    return outputs && Object.fromEntries([...outputs].map(([name, kept]) => [name, toJson(kept)]));
  },
  outputReferences: (plan: PlanParent, _: unknown, context: GraphqlContext) =>
    isOpenPast(plan) ? [] : readOutputReferences(plan._id, context),
  waitReason: async (plan: PlanParent, _: unknown, { liveWorkers }: GraphqlContext) =>
    plan.past ? plan.past.waitReason : planWaitReason(plan, await liveWorkers()),
  executor: (plan: PlanParent) => plan.lease?.owner ?? null,
  deadlineAt: (plan: PlanParent) => (plan.past ? null : shownDeadlineOf(plan)),
  expiresAt: (plan: PlanParent) => (plan.past ? null : shownExpiryOf(plan)),
  durationMs: async (plan: PlanParent, _: unknown, { reads, nowMs }: GraphqlContext) =>
    (plan.past ?? (await planTimes(plan, reads, nowMs))).durationMs,
  waitedForPeopleMs: async (plan: PlanParent, _: unknown, { reads, nowMs }: GraphqlContext) =>
    (plan.past ?? (await planTimes(plan, reads, nowMs))).waitedForPeopleMs,
  resolutions: (plan: PlanParent) =>
    plan.resolutions.map(({ key, attempt, resolution, by, at }) => ({
      stepKey: key,
      attempt,
      resolution: resolution.type,
      by,
      at,
    })),
  plan: madeOfGraph(({ plan }) => stringifyExactJson(plan)),
  selectedTools: madeOfGraph(({ plan }) => selectedTools(plan)),
  toolOrder: madeOfGraph(({ plan }) => toolOrder(plan)),
  async executionResults(plan: PlanParent, _: unknown, context: GraphqlContext) {
    if (!isTerminalPlanStatus(plan.status) || plan.status === "INVALID") return null;
    const { results, errors } = await readResults(plan._id, context);
    return `{"results":${results},"errors":${JSON.stringify(errors)}}`;
  },
  async validationResult(plan: PlanParent, _: unknown, { reads, bytes }: GraphqlContext) {
    const diagnostics = (await reads.texts(plan._id))?.diagnostics ?? [];
    await bytes.making((await reads.plan(plan._id))?.textBytes ?? 0);
    return stringifyExactJson(diagnostics);
  },
};

/** The output of a step, which several fields of one answer share. */
function outputOf(step: StepRun, { reads }: GraphqlContext): Promise<KeptOutput> {
  return reads.output(step, "step");
}

/** An error with its data, which is read only when it is selected. */
function errorOf(error: StepRun["error"], withData: () => Promise<StepRun["error"] | undefined>) {
  return error && { ...error, data: async () => (await withData())?.data ?? null };
}

/** Its remedy follows from what became of the step. */
function ofUnit<E extends object>(error: E | null, unit: StepRun): (E & { unit: StepRun }) | null {
  return error && { ...error, unit };
}

/** Fields of Step that its run does not have, or has in another form. */
export const stepResolvers = {
  arguments: ({ planned }: ShownStep) => planned,
  waitReason: ({ waitsFor }: ShownStep) => (typeof waitsFor === "function" ? waitsFor() : waitsFor),
  resolvedArguments: async (step: StepRun, _: unknown, { reads }: GraphqlContext) =>
    (await reads.withBody(step)).arguments?.value ?? null,
  async resolvedArgumentsPreview(step: StepRun, _: unknown, { reads }: GraphqlContext) {
    const { arguments: args, argsHash } = await reads.withBody(step);
    return args?.preview === undefined
      ? null
      : { sizeBytes: args.sizeBytes, text: args.preview, hash: argsHash };
  },
  output: async (step: StepRun, _: unknown, context: GraphqlContext) => toJson(await outputOf(step, context)),
  async outputReference(step: StepRun, _: unknown, context: GraphqlContext) {
    const kept = await outputOf(step, context);
    return "reference" in kept ? kept.reference : null;
  },
  error: (step: StepRun, _: unknown, { reads }: GraphqlContext) =>
    ofUnit(
      errorOf(step.error, async () => (await reads.withBody(step)).error),
      step,
    ),
  attempts: (step: StepRun, _: unknown, { reads }: GraphqlContext) =>
    step.attempts.map((attempt) => ({
      ...attempt,
      error: ofUnit(
        errorOf(attempt.error, async () => {
          const { attempts } = await reads.withBody(step);
          return attempts.find(({ attemptId }) => attemptId === attempt.attemptId)?.error;
        }),
        step,
      ),
    })),
};

/** Fields of ModelCall that its head does not have, or has with another name, or that older calls lack. */
export const modelCallResolvers = {
  id: (call: ModelCallHead) => call._id,
  messages: async (call: ModelCallHead, _: unknown, { reads }: GraphqlContext) =>
    (await reads.modelCallTexts(call))?.messages ?? [],
  // A running call has no answer: clients that watch it need no read of its texts.
  answer: async (call: ModelCallHead, _: unknown, { reads }: GraphqlContext) =>
    call.endedAt === null ? "" : ((await reads.modelCallTexts(call))?.answer ?? ""),
  partialAnswer: ({ _id, endedAt }: ModelCallHead, _: unknown, { readPartialAnswer }: GraphqlContext) =>
    endedAt === null ? readPartialAnswer(_id) : null,
  pricing: (call: ModelCallHead) => call.pricing ?? (call.model === "offline" ? "none" : "unpriced"),
  attempt: (call: ModelCallHead) => call.attempt ?? 1,
  endedAt: ({ endedAt, createdAt }: ModelCallHead) => (endedAt === undefined ? createdAt : endedAt),
};
