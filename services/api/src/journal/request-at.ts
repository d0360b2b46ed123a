/** A request at one entry of its journal. It uses only the journal, not the current state. */
import { type StepRun, timeUse } from "@planwright/engine";
import { type PlanId, type PlanStatus } from "@planwright/plan";
import { isStepWanted, type RequestState } from "@planwright/store";
import { BadInputError, RequestNotFoundError } from "../errors/api-error.ts";
import type { GraphqlContext } from "../operation/context.ts";
import type { PlanTimes } from "../plans/plan-times.ts";
import { type StepFilterArgument, toStepFilter } from "../plans/step-connection.ts";
import { type StepCounts, toStepCounts } from "../plans/step-counts.ts";
import { type GraphedPlan, type ShownStep, stepViews } from "../plans/step-views.ts";
import { findRequest } from "../requests/find-request.ts";

/** Arguments of the query requestAt. */
export interface RequestAtArguments {
  requestId: string;
  seq: number;
}

type FoldedPlan = NonNullable<RequestState["plan"]>;

/** The recorded part of a plan in the journal. */
interface PlanAtView extends PlanTimes, Pick<FoldedPlan, "planId" | "version" | "startedAt" | "finishedAt"> {
  /** Null before the first entry of an executor. */
  status: PlanStatus | null;
  error: FoldedPlan["error"];
  counts: StepCounts;
  steps(asked: { filter?: StepFilterArgument | null }): Promise<object[]>;
}

/** The result of the query requestAt. */
export interface RequestAtView extends Pick<RequestState, "seq" | "at"> {
  requestId: string;
  plan: PlanAtView | null;
}

/** Estimated size of a step or item with its attempts, in bytes. */
const STEP_BYTES = 1_024;

/** @throws {BadInputError | RequestNotFoundError} */
export async function readRequestAt(
  { requestId, seq }: RequestAtArguments,
  context: GraphqlContext,
): Promise<RequestAtView> {
  if (seq < 0) {
    throw new BadInputError(
      "seq",
      `seq is ${seq}; 0 or more is accepted`,
      "Give 0 for the state before the first entry, or more: request(requestId) { seq } is the last entry.",
    );
  }
  const { store, tenant, reads, bytes } = context;
  const request = await findRequest(context, requestId);
  const head = await reads.plan(request.planId);
  await bytes.reading(((head?.steps ?? 0) + (head?.items ?? 0)) * STEP_BYTES);
  const state = await store.readStateAt(tenant, request._id, seq);
  if (!state) throw new RequestNotFoundError(requestId);
  const { seq: last, at, plan, steps } = state;
  const times = plan && at ? timesAt(plan, at) : null;
  return { requestId, seq: last, at, plan: plan && times && { ...planAt(plan, steps, context), ...times } };
}

/**
 * A plan at an entry. The journal records the start with the first entry of an executor: before that the
 * status is null.
 */
function planAt(
  plan: FoldedPlan,
  steps: readonly StepRun[],
  { reads }: GraphqlContext,
): Omit<PlanAtView, keyof PlanTimes> {
  const { planId, version, status, error, startedAt, finishedAt } = plan;
  return {
    planId,
    version,
    status: status === "READY" ? null : status,
    error: error && { ...error, data: null },
    startedAt,
    finishedAt,
    counts: countsOf(steps),
    async steps({ filter }: { filter?: StepFilterArgument | null }) {
      // The entries of a request name its plans by their ids.
      const graph = await reads.graph(planId as PlanId);
      const wanted = graph && toStepFilter(graph, filter ?? {});
      if (!graph || !wanted) return [];
      const attempts = new Map(steps.map((step) => [step.key, step.attempts]));
      return stepViews(asIfHeld(plan, graph), steps, NOTHING_KNOWN)
        .filter((step) => isStepWanted(step, wanted))
        .map((step) => stepAt(step, attempts.get(step.key) ?? []));
    },
  };
}

function timesAt(plan: FoldedPlan, at: Date): PlanTimes {
  if (!plan.startedAt) return { durationMs: null, waitedForPeopleMs: null };
  const { totalMs, ownMs } = timeUse(plan, at);
  return { durationMs: ownMs, waitedForPeopleMs: totalMs - ownMs };
}

/** Live workers are not recorded in the journal. With this value the wait reason is never "no worker". */
const NOTHING_KNOWN = { planner: 1, executor: 1, owners: new Set([""]) };

/**
 * The plan as if an executor held it, unless it waits or has ended, because the live workers at that time are
 * not known.
 */
function asIfHeld(
  { status, waitReason, resolutions }: FoldedPlan,
  graph: Pick<GraphedPlan, "_id" | "plan" | "toolPins">,
): GraphedPlan {
  const lease = { owner: "", epoch: 1 };
  const shown = status === "READY" ? "RUNNING" : status;
  return { ...graph, status: shown, waitReason, resolutions, lease };
}

function stepAt(step: ShownStep, attempts: StepRun["attempts"]) {
  const { waitsFor, waitReason, error } = step;
  return {
    ...step,
    attempts,
    error: error && { ...error, unit: step, data: null },
    // "limit" would be a guess unless an entry records it.
    waitReason: waitsFor === "limit" && waitReason !== "limit" ? null : waitsFor,
  };
}

/** Items are counted with their step. */
function countsOf(steps: readonly StepRun[]): StepCounts {
  const withoutItems = steps.filter(({ item }) => item === null);
  return toStepCounts(
    withoutItems.length,
    withoutItems.map(({ status }) => ({ status, count: 1 })),
  );
}
