import { type FoldedPlan, type JournalEvent } from "@planwright/engine";
import { isForPerson, type PlanId } from "@planwright/plan";
import { createRemoveHalfAccepted } from "../acceptance/half-accepted.ts";
import {
  type EndedPlan,
  endEvent,
  endedBy,
  followingEnd,
  isForPlanner,
  writeEnd,
} from "../heads/plan-end.ts";
import { REQUEST_STATUS, requestAfterPlan } from "../heads/request-after-plan.ts";
import type { StoreDependencies } from "../journal/dependencies.ts";
import { removeStaleOutputs } from "../outputs/output-store.ts";
import { LeaseLostError } from "../records/errors.ts";
import { FIRST_EPOCH } from "../records/new-documents.ts";
import type { FinishCommand, PlanFollowUp } from "../records/plan-document.ts";
import type { ExecutionStore, PlanClaim } from "./execution-store.ts";
import { recordEvents } from "./turns.ts";
import { withoutSettledControls } from "./update-plan-summary.ts";

/** A request whose document may lag behind the end of its plan. */
interface LaggingRequest extends Pick<FinishCommand, "status" | "error"> {
  _id: string;
  planId: PlanId;
  followUp?: PlanFollowUp;
  cancelRequestedAt: Date | null;
}

/** When a request is EXECUTING this long after its plan ended, its executor died between the two writes. */
const RECONCILE_AFTER_MS = 15_000;

/** The part of the store that releases plans and ends them. */
export function createPlanEnds(
  context: StoreDependencies,
): Pick<ExecutionStore, "releasePlan" | "finishPlan" | "reconcileRequests"> {
  const { collections, group, clock, settleOutbox } = context;
  const { requests } = collections;
  const removeHalfAccepted = createRemoveHalfAccepted(collections);
  const held = (claim: PlanClaim) => ({
    collection: "plans" as const,
    id: claim.plan._id,
    condition: { "lease.epoch": claim.epoch },
  });

  /**
   * Removes outputs that no unit refers to. Done before the end is written, so that a failure here is
   * repeated. A plan with a single owner has no such outputs.
   * @param last - events of units in the last entry
   */
  async function removeLeftovers(claim: PlanClaim, last: readonly JournalEvent[]): Promise<void> {
    if (claim.epoch === FIRST_EPOCH) return;
    const { _id: planId, tenant } = claim.plan;
    const completed = [...claim.journal.units()].flatMap(({ status, outputRef }) =>
      status === "COMPLETED" && outputRef ? [outputRef] : [],
    );
    const inLastEntry = last.flatMap((event) =>
      event.type === "step.changed" && event.outputRef ? [event.outputRef] : [],
    );
    await removeStaleOutputs(collections, { tenant, planId, epoch: claim.epoch }, [
      ...completed,
      ...inLastEntry,
    ]);
  }

  return {
    async releasePlan(claim, to) {
      // Controls that come from now on are left to the next owner.
      claim.journal.close();
      // Appends the noted events too: after the release this owner cannot append them.
      await claim.journal.append([releaseEvent(to)]);
      // The plan was released normally: it does not kill executors.
      const withoutSettled = withoutSettledControls(claim);
      const common = { claims: 0, lostAtProgress: 0, ...withoutSettled };
      if (to.status === "QUEUED") {
        const expressions = {
          ...common,
          status: "QUEUED",
          waitReason: null,
          lease: null,
          dueAt: "$$NOW",
          updatedAt: "$$NOW",
        };
        requireHeld(claim, await group.update({ ...held(claim), expressions }));
        return;
      }
      // The plan also becomes due by a control that this owner has not applied, and by its deadline, whose time
      // does not pass while only a person can continue the plan.
      const hasNewControl = { $gt: [{ $size: withoutSettled["controls"] }, 0] };
      const dueAt = to.dueAtMs === null ? null : new Date(to.dueAtMs);
      const orDeadline = isForPerson(to.reason) ? dueAt : { $min: [dueAt, "$deadlineAt"] };
      const whenDue = { $cond: [hasNewControl, "$$NOW", orDeadline] };
      // A plan that was resumed before its release waits only for a worker.
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
    },

    async finishPlan(claim, finish, last = { records: [], ends: [] }) {
      const { events } = await recordEvents(context, claim, last);
      await removeLeftovers(claim, events);
      const end = endEvent(finish);
      const { plan, journal } = claim;
      // Controls that come from now on are settled behind the end.
      journal.close();
      const endedAs = (folded: FoldedPlan | undefined): EndedPlan => {
        const ended = endedBy(end, folded);
        return { ...ended, controlSeq: journal.settled(ended.controlSeq) };
      };
      const isFollowed = await journal.appendLast([...events, end], ({ at }, { plans }) =>
        followingEnd(plan, endedAs(plans.get(plan._id)), at),
      );
      const ended = endedAs(journal.plan());
      return { isForPlanner: isFollowed ? isForPlanner(plan, ended) : await writeEnd(context, plan, ended) };
    },

    async reconcileRequests() {
      await removeHalfAccepted(clock.now());
      const stale = await requests
        .aggregate<LaggingRequest>([
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
              cancelRequestedAt: "$plan.cancelRequestedAt",
            },
          },
        ])
        .toArray();
      const corrected = await Promise.all(
        stale.map(({ _id, planId, ...end }) =>
          group.set({
            collection: "requests",
            id: _id,
            condition: { planId, status: "EXECUTING" },
            ...requestAfterPlan(end, end),
          }),
        ),
      );
      // Last, because it may throw: an outbox document whose writes fail must not stop the other corrections.
      await settleOutbox.abandoned();
      return corrected.filter(Boolean).length;
    },
  };
}

function releaseEvent(to: Parameters<ExecutionStore["releasePlan"]>[1]): JournalEvent {
  const { status } = to;
  if (status === "QUEUED") return { type: "lease.released", status, waitReason: null, dueAt: null };
  const dueAt = to.dueAtMs === null ? null : new Date(to.dueAtMs);
  return { type: "lease.released", status, waitReason: to.reason, dueAt };
}

/**
 * @throws {LeaseLostError} when a write under a claim was not done: another executor holds the plan by now
 */
function requireHeld({ plan, epoch }: PlanClaim, isDone: boolean): void {
  if (!isDone) throw new LeaseLostError({ id: plan._id, epoch });
}
