/** A request at one entry of its journal: its plan and steps follow from the journal alone. */
import { type FoldedPlan, type StepRun, timeUse } from "@planwright/engine";
import type { PlanGraph, PlanHead, RequestDocument } from "@planwright/store";
import { BadInputError, RequestNotFoundError } from "../errors/api-error.ts";
import type { GraphqlContext } from "../operation/context.ts";
import type { PlanTimes } from "../plans/plan-times.ts";
import { type StepCounts, toStepCounts } from "../plans/step-counts.ts";
import { type PastPlan, type ShownStep, stepViews } from "../plans/step-views.ts";
import { planWaitReason } from "../plans/wait-reason.ts";
import { findRequest } from "../requests/find-request.ts";

/** A request whose plan is that of an entry of its journal. */
export type PastRequest = RequestDocument & {
  past: { seq: number; at: Date | null; plan: (PlanHead & { past: PastPlan }) | null };
};

/** Estimated size of a step or item with its attempts, in bytes. */
const STEP_BYTES = 1_024;

/** @throws {BadInputError | RequestNotFoundError} */
export async function readRequestAt(
  requestId: string,
  at: number,
  context: GraphqlContext,
): Promise<PastRequest> {
  if (at < 0) {
    throw new BadInputError(
      "at",
      `at is ${at}; 0 or more is accepted`,
      "Give 0 for the state before the first entry, or more: request(requestId) { seq } is the last entry.",
    );
  }
  const { store, tenant, reads, bytes } = context;
  const request = await findRequest(context, requestId);
  const current = await reads.plan(request.planId);
  await bytes.reading(((current?.steps ?? 0) + (current?.items ?? 0)) * STEP_BYTES);
  const state = await store.readStateAt(tenant, request._id, at);
  if (!state) throw new RequestNotFoundError(requestId);
  const { seq, at: writtenAt, owner, plan, steps } = state;
  const head = steps[0] && (await reads.plan(steps[0].planId));
  if (!plan || !head || !writtenAt) return { ...request, past: { seq, at: writtenAt, plan: null } };
  const past = {
    ...head,
    status: plan.status,
    error: plan.error && { ...plan.error, data: undefined },
    waitReason: plan.waitReason,
    lease: owner && { owner: owner.worker, epoch: owner.epoch },
    epoch: state.epoch,
    approvals: plan.approvals,
    resolutions: plan.resolutions,
    cancelRequestedAt: plan.cancelAskedAt,
    pauseRequestedAt: plan.pauseAskedAt,
    queuedAt: plan.queuedAt,
    startedAt: plan.startedAt,
    finishedAt: plan.finishedAt,
    updatedAt: writtenAt,
    deadlineAt: null,
    past: pastPlan(plan, steps, writtenAt),
  };
  return { ...request, past: { seq, at: writtenAt, plan: past } };
}

function pastPlan(plan: FoldedPlan, steps: readonly StepRun[], at: Date): PastPlan {
  const shown = (graph: PlanGraph): ShownStep[] =>
    // "limit" would be a guess unless an entry records it.
    stepViews({ ...graph, ...asIfHeld(plan) }, steps, NOTHING_KNOWN).map((step) =>
      step.waitsFor === "limit" && step.waitReason !== "limit" ? { ...step, waitsFor: null } : step,
    );
  const actedAnyway = steps.filter(
    ({ status, effect }) =>
      (status === "FAILED" || status === "CANCELLED") && (effect === "possible" || effect === "done"),
  );
  return {
    ...timesAt(plan, at),
    counts: countsOf(steps),
    mayHaveActed: actedAnyway.length,
    waitReason: planWaitReason(asIfHeld(plan), NOTHING_KNOWN),
    steps: shown,
  };
}

function timesAt(plan: FoldedPlan, at: Date): PlanTimes {
  if (!plan.startedAt) return { durationMs: null, waitedForPeopleMs: null };
  const { totalMs, ownMs } = timeUse(plan, at);
  return { durationMs: ownMs, waitedForPeopleMs: totalMs - ownMs };
}

/** Live workers are not recorded in the journal: with these no wait is for a worker, and no attempt is lost. */
const NOTHING_KNOWN = { planner: 1, executor: 1, owners: { has: () => true } };

/**
 * The plan as if an executor held it, unless it waits or has ended, because the live workers at that time are
 * not known.
 */
function asIfHeld({ status, waitReason, resolutions }: FoldedPlan) {
  const shown = status === "READY" ? ("RUNNING" as const) : status;
  return { status: shown, waitReason, resolutions, lease: { owner: "", epoch: 1 } };
}

/** Items are counted with their step. */
function countsOf(steps: readonly StepRun[]): StepCounts {
  const withoutItems = steps.filter(({ item }) => item === null);
  return toStepCounts(
    withoutItems.length,
    withoutItems.map(({ status }) => ({ status, count: 1 })),
  );
}
