import { MAX_END_BYTES } from "@planwright/engine";
import { type JsonObject, type PlanId, STARTED_REQUEST_STATUSES } from "@planwright/plan";
import { createRemoveHalfAccepted } from "../acceptance/half-accepted.ts";
import type { FinishCommand, PlanFollowUp } from "../documents.ts";
import { ending } from "../ending.ts";
import { LeaseLostError } from "../errors.ts";
import { FIRST_EPOCH } from "../new-documents.ts";
import { isPlain } from "../outputs/inline-value.ts";
import { removeStaleOutputs } from "../outputs/output-store.ts";
import { PLANNING_DUE } from "../planning/parked-for.ts";
import type { ExecutionStore, PlanClaim } from "../store.ts";
import type { ExecutionContext } from "./context.ts";
import { needsOf } from "./plan-needs.ts";
import { REQUEST_STATUS, requestAfterPlan } from "./request-after-plan.ts";
import { recordEvents } from "./turns.ts";

/** A request that may not have heard of its plan's end. */
interface EndedPlan extends Pick<FinishCommand, "status" | "error"> {
  _id: string;
  planId: PlanId;
  followUp?: PlanFollowUp;
}

/** A request that says EXECUTING this long after its plan ended lost its executor between the two writes. */
const RECONCILE_AFTER_MS = 15_000;

/** The part of the store that gives plans back and ends them. */
export function createPlanEnds(
  context: ExecutionContext,
): Pick<ExecutionStore, "releasePlan" | "finishPlan" | "reconcileRequests"> {
  const { collections, group, clock } = context;
  const { requests } = collections;
  const removeHalfAccepted = createRemoveHalfAccepted(collections);
  const held = (claim: PlanClaim) => ({
    collection: "plans" as const,
    id: claim.plan._id,
    condition: { "lease.epoch": claim.epoch },
  });

  /** Before the end is written, so that it is done again should this fail. A plan with one owner has no leftovers. */
  async function removeLeftovers(claim: PlanClaim): Promise<void> {
    if (claim.epoch === FIRST_EPOCH) return;
    const { _id: planId, tenant } = claim.plan;
    const kept = [...claim.journal.units()].flatMap(({ status, outputRef }) =>
      status === "COMPLETED" && outputRef ? [outputRef] : [],
    );
    await removeStaleOutputs(collections, { tenant, planId, epoch: claim.epoch }, kept);
  }

  return {
    releasePlan: ending(async (claim, to) => {
      // The plan was worked on and given back in order: it kills no executor.
      const common = { claimsWithoutProgress: 0 };
      if (to.status === "QUEUED") {
        const set = { ...common, status: "QUEUED", waitReason: null, lease: null };
        requireHeld(claim, await group.set({ ...held(claim), set, stamps: ["dueAt", "updatedAt"] }));
        return;
      }
      // A wish that came while the plan was held, and that this owner has not seen, is not slept over. Nor is the deadline.
      const hasNewWish = { $gt: ["$wishes", claim.plan.wishes] };
      const dueAt = to.dueAtMs === null ? null : new Date(to.dueAtMs);
      const whenDue = { $cond: [hasNewWish, "$$NOW", { $min: [dueAt, "$deadlineAt"] }] };
      // Resumed before it was given back: it waits for a worker alone.
      const orQueued = <Queued, Otherwise>(queued: Queued, otherwise: Otherwise) =>
        to.status === "PAUSED"
          ? { $cond: [{ $eq: ["$pauseRequestedAt", null] }, queued, otherwise] }
          : otherwise;
      const expressions = {
        ...common,
        status: orQueued("QUEUED", to.status),
        dueAt: orQueued("$$NOW", whenDue),
        waitReason: orQueued(null, to.reason),
        lease: null,
        updatedAt: "$$NOW",
      };
      requireHeld(claim, await group.update({ ...held(claim), expressions }));
    }),

    finishPlan: ending(async (claim, finish, last = { records: [], ends: [] }) => {
      const { events } = await recordEvents(context, claim, last);
      await claim.journal.append(events);
      await removeLeftovers(claim);
      const isEnded = await group.set({
        ...held(claim),
        set: {
          status: finish.status,
          dueAt: null,
          waitReason: null,
          counts: countSteps(claim),
          needs: needsOf(claim.journal.units()),
          outputs: finish.outputs && fitsOnPlan(finish.outputs) ? finish.outputs : null,
          error: finish.error ?? null,
          lease: null,
        },
        stamps: ["finishedAt", "updatedAt"],
      });
      requireHeld(claim, isEnded);
      // After the plan's own end, so that an owner who lost the lease never reaches this. A crash in between: `reconcileRequests`.
      const change = requestAfterPlan(claim.plan.followUp, finish);
      const isChanged = await group.set({
        collection: "requests",
        id: claim.plan.requestId,
        // Not when that was done already and the request has gone on since.
        condition: { planId: claim.plan._id, status: { $in: STARTED_REQUEST_STATUSES } },
        ...change,
      });
      return { isForPlanner: isChanged && change.stamps.includes(PLANNING_DUE) };
    }),

    async reconcileRequests() {
      await removeHalfAccepted(clock.now());
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

/** One output after the other: all of them together may be more than one text can hold. */
function fitsOnPlan(outputs: JsonObject): boolean {
  let room = MAX_END_BYTES;
  for (const [name, output] of Object.entries(outputs)) {
    room -= name.length + JSON.stringify(output).length;
    if (room < 0) return false;
  }
  return isPlain(outputs);
}

/** Steps by status; items of a forEach are part of their step. */
function countSteps(claim: PlanClaim): { [status: string]: number } {
  const counts: { [status: string]: number } = {};
  for (const { id } of claim.plan.plan.steps) {
    const status = claim.journal.unit(id)?.status ?? "PENDING";
    counts[status] = (counts[status] ?? 0) + 1;
  }
  return counts;
}

/** @throws {LeaseLostError} unless a write under a claim was done: another executor holds the plan by now */
function requireHeld({ plan, epoch }: PlanClaim, isDone: boolean): void {
  if (!isDone) throw new LeaseLostError({ id: plan._id, epoch });
}
