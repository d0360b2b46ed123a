import type { PlanId } from "@planwright/plan";
import type { FinishCommand, PlanFollowUp } from "../documents.ts";
import { ending } from "../ending.ts";
import { FIRST_EPOCH } from "../new-documents.ts";
import { isPlain } from "../outputs/inline-value.ts";
import { removeStaleOutputs } from "../outputs/output-store.ts";
import { PLANNING_DUE } from "../planning/parked-for.ts";
import { outputRefsOf } from "../step-record.ts";
import type { ExecutionStore, PlanClaim } from "../store.ts";
import type { ExecutionContext } from "./context.ts";
import { createRecordWrites } from "./record-writes.ts";
import { REQUEST_STATUS, requestAfterPlan } from "./request-after-plan.ts";
import { requireHeld } from "./units.ts";

/** A request that may not have heard of its plan's end. */
interface EndedPlan extends Pick<FinishCommand, "status" | "error"> {
  _id: string;
  planId: PlanId;
  followUp?: PlanFollowUp;
}

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
  const prepareRecords = createRecordWrites(context);

  const held = (claim: PlanClaim) => ({
    collection: "plans" as const,
    id: claim.plan._id,
    condition: { "lease.epoch": claim.epoch },
  });

  /** Before the end is written, so that it is done again should this fail. A plan with one owner has no leftovers. */
  async function removeLeftovers(claim: PlanClaim): Promise<void> {
    if (claim.epoch === FIRST_EPOCH) return;
    const { _id: planId, tenant } = claim.plan;
    const kept = outputRefsOf(claim.steps.values());
    await removeStaleOutputs(collections, { tenant, planId, epoch: claim.epoch }, kept);
  }

  return {
    releasePlan: ending(async (claim, to) => {
      // The plan was worked on and given back in order: it kills nobody.
      const common = { claimsWithoutProgress: 0 };
      if (to.status === "QUEUED") {
        const set = { ...common, status: "QUEUED", waitReason: null, lease: null };
        requireHeld(claim, [await group.set({ ...held(claim), set, stamps: ["dueAt", "updatedAt"] })]);
        return;
      }
      // A wish that came while the plan was held, and that this owner has not seen, is not slept over. Nor is the deadline.
      const hasNewWish = { $gt: ["$wishes", claim.plan.wishes] };
      const dueAt = to.dueAtMs === null ? null : new Date(to.dueAtMs);
      const isResumed = { $eq: ["$pauseRequestedAt", null] };
      const expressions = {
        ...common,
        status: to.status === "PAUSED" ? { $cond: [isResumed, "QUEUED", "PAUSED"] } : to.status,
        dueAt: { $cond: [hasNewWish, "$$NOW", { $min: [dueAt, "$deadlineAt"] }] },
        waitReason: to.reason,
        lease: null,
        updatedAt: "$$NOW",
      };
      requireHeld(claim, [await group.update({ ...held(claim), expressions })]);
    }),

    finishPlan: ending(async (claim, finish, last = { records: [], ends: [] }) => {
      const records = await prepareRecords(claim, last.records, last.ends);
      await removeLeftovers(claim);
      // A claim raises the plan's epoch before those of its units: while the plan is ours, so was every unit before.
      const answers = await group.setInOrder(records, {
        ...held(claim),
        set: {
          status: finish.status,
          dueAt: null,
          waitReason: null,
          counts: countSteps(claim),
          outputs: fitsOnPlan(finish.outputs) ? finish.outputs : null,
          error: finish.error ?? null,
          lease: null,
        },
        stamps: ["finishedAt", "updatedAt"],
      });
      requireHeld(claim, answers);
      // After the plan's own end, so that an owner who lost the lease never reaches this. A crash in between: `reconcileRequests`.
      const change = requestAfterPlan(claim.plan.followUp, finish);
      const isChanged = await group.set({
        collection: "requests",
        id: claim.plan.requestId,
        // Not when that was done already and the request has gone on since.
        condition: { planId: claim.plan._id, status: { $in: ["READY", "EXECUTING"] } },
        ...change,
      });
      return { isForPlanner: isChanged && change.stamps.includes(PLANNING_DUE) };
    }),

    async reconcileRequests() {
      const stale = await requests
        .aggregate<EndedPlan>([
          { $match: { status: "EXECUTING", updatedAt: { $lt: new Date(clock.now() - RECONCILE_AFTER_MS) } } },
          { $sort: { updatedAt: 1 } },
          { $limit: 1_000 },
          { $lookup: { from: "plans", localField: "planId", foreignField: "_id", as: "plan" } },
          { $unwind: "$plan" },
          { $match: { "plan.status": { $in: Object.keys(REQUEST_STATUS) } } },
          {
            $project: {
              planId: 1,
              status: "$plan.status",
              error: "$plan.error",
              followUp: "$plan.followUp",
            },
          },
        ])
        .toArray();
      const corrected = await Promise.all(
        stale.map(({ _id, planId, followUp, ...end }) =>
          group.set({
            collection: "requests",
            id: _id,
            condition: { planId, status: "EXECUTING" },
            ...requestAfterPlan(followUp, end),
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
