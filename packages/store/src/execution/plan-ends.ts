import type { PlanId, RequestStatus } from "@planwright/plan";
import type { Document } from "mongodb";
import type { FinishCommand } from "../documents.ts";
import { LeaseLostError } from "../errors.ts";
import { FIRST_EPOCH } from "../new-documents.ts";
import { isPlain } from "../outputs/inline-value.ts";
import { removeStaleOutputs } from "../outputs/output-store.ts";
import { outputRefsOf } from "../step-record.ts";
import type { ExecutionStore, PlanClaim } from "../store.ts";
import type { ExecutionContext } from "./context.ts";

/** How a plan's end reads on its request. */
const REQUEST_STATUS: Record<FinishCommand["status"], RequestStatus> = {
  COMPLETED: "COMPLETED",
  PARTIAL: "PARTIAL",
  FAILED: "FAILED",
  EXPIRED: "FAILED",
  CANCELLED: "CANCELLED",
};

/** Outputs above this size stay with their steps alone; a plan document has to stay small. */
const MAX_PLAN_OUTPUT_CHARS = 262_144;
/** A request that says EXECUTING this long after its plan ended lost its executor between the two writes. */
const RECONCILE_AFTER_MS = 15_000;

/** The part of the store that gives plans back and ends them. */
export function createPlanEnds(
  context: ExecutionContext,
): Pick<ExecutionStore, "releasePlan" | "finishPlan" | "reconcileRequests"> {
  const { collections, group, clock } = context;
  const { requests } = collections;

  /** One fenced update of the plan itself. */
  async function updatePlan(claim: PlanClaim, expressions: Document): Promise<void> {
    const isHeld = await group.update({
      collection: "plans",
      id: claim.plan._id,
      condition: { "lease.epoch": claim.epoch },
      expressions: { ...expressions, lease: null, updatedAt: "$$NOW" },
    });
    if (!isHeld) throw new LeaseLostError({ id: claim.plan._id, epoch: claim.epoch });
  }

  /** Before the end is written, so that it is done again should this fail. A plan with one owner has no leftovers. */
  async function removeLeftovers(claim: PlanClaim): Promise<void> {
    if (claim.epoch === FIRST_EPOCH) return;
    const { _id: planId, tenant } = claim.plan;
    const kept = outputRefsOf(claim.steps.values());
    await removeStaleOutputs(collections, { tenant, planId, epoch: claim.epoch }, kept);
  }

  return {
    async releasePlan(claim, to) {
      // The plan was worked on and given back in order: it kills nobody.
      const common = { claimsWithoutProgress: 0 };
      if (to.status === "QUEUED") {
        await updatePlan(claim, { ...common, status: "QUEUED", dueAt: "$$NOW", waitReason: null });
        return;
      }
      // A wish that came while the plan was held, and that this owner has not seen, is not slept over. Nor is the deadline.
      const hasNewWish = { $gt: ["$wishes", claim.plan.wishes] };
      const dueAt = to.dueAtMs === null ? null : new Date(to.dueAtMs);
      const isResumed = { $eq: ["$pauseRequestedAt", null] };
      await updatePlan(claim, {
        ...common,
        status: to.status === "PAUSED" ? { $cond: [isResumed, "QUEUED", "PAUSED"] } : to.status,
        dueAt: { $cond: [hasNewWish, "$$NOW", { $min: [dueAt, "$deadlineAt"] }] },
        waitReason: to.reason,
      });
    },

    async finishPlan(claim, finish) {
      await removeLeftovers(claim);
      await updatePlan(claim, {
        status: finish.status,
        dueAt: null,
        waitReason: null,
        counts: { $literal: countSteps(claim) },
        outputs: { $literal: fitsOnPlan(finish.outputs) ? finish.outputs : null },
        error: { $literal: finish.error ?? null },
        finishedAt: "$$NOW",
      });
      // After the plan's own end, so that an owner who lost the lease never reaches this. A crash in between: `reconcileRequests`.
      await group.update({
        collection: "requests",
        id: claim.plan.requestId,
        condition: { planId: claim.plan._id },
        expressions: { status: REQUEST_STATUS[finish.status], updatedAt: "$$NOW" },
      });
    },

    async reconcileRequests() {
      const stale = await requests
        .aggregate<{ _id: string; planId: PlanId; status: FinishCommand["status"] }>([
          { $match: { status: "EXECUTING", updatedAt: { $lt: new Date(clock.now() - RECONCILE_AFTER_MS) } } },
          { $sort: { updatedAt: 1 } },
          { $limit: 1_000 },
          { $lookup: { from: "plans", localField: "planId", foreignField: "_id", as: "plan" } },
          { $unwind: "$plan" },
          { $match: { "plan.status": { $in: Object.keys(REQUEST_STATUS) } } },
          { $project: { planId: 1, status: "$plan.status" } },
        ])
        .toArray();
      const corrected = await Promise.all(
        stale.map(({ _id, planId, status }) =>
          group.update({
            collection: "requests",
            id: _id,
            condition: { planId, status: "EXECUTING" },
            expressions: { status: REQUEST_STATUS[status], updatedAt: "$$NOW" },
          }),
        ),
      );
      return corrected.filter(Boolean).length;
    },
  };
}

function fitsOnPlan(outputs: FinishCommand["outputs"]): boolean {
  return JSON.stringify(outputs).length <= MAX_PLAN_OUTPUT_CHARS && isPlain(outputs);
}

/** Steps by status; items of a forEach are part of their step. */
function countSteps(claim: PlanClaim): { [status: string]: number } {
  const counts: { [status: string]: number } = {};
  for (const document of claim.steps.values()) {
    if (document.item !== null) continue;
    counts[document.status] = (counts[document.status] ?? 0) + 1;
  }
  return counts;
}
