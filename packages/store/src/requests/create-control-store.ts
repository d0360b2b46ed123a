import { fold, type JournalEvent, type StepRun, stepRunAt } from "@planwright/engine";
import {
  isSettledStepStatus,
  PAUSABLE_PLAN_STATUSES,
  type PlanId,
  UNSTARTED_PLAN_STATUSES,
} from "@planwright/plan";
import type { Document } from "mongodb";
import type { StoreDependencies } from "../journal/dependencies.ts";
import { nextEntry } from "../journal/transact.ts";
import type { PlanUnits } from "../journal/unit-reads.ts";
import { endEvent, endWrites } from "../plans/plan-end.ts";
import type { PlanApproval, PlanDocument, UndecidedUnit } from "../records/plan-document.ts";
import { createServerControls } from "../tools/tool-store.ts";
import { askControl, askDecision, type Decided, type DecisionState, IS_FREE, isOpen } from "./ask-control.ts";
import { createResolve } from "./resolve.ts";

/** The part of the store that records controls. */
export function createControlStore(dependencies: StoreDependencies) {
  return {
    ...createCancel(dependencies),
    ...createPause(dependencies),
    ...createApprove(dependencies),
    ...createResolve(dependencies),
    ...createServerControls(dependencies),
  };
}

function createApprove(context: StoreDependencies) {
  return {
    /**
     * Records an operator's decision on a step that waits for approval. Of several decisions on one hash the
     * first one counts. A repeat of the same decision is answered as recorded.
     */
    async approveStep(
      tenant: string,
      planId: PlanId,
      { by, ...approval }: Omit<PlanApproval, "at">,
    ): Promise<ApprovalAnswer> {
      const { stepId, approved, approvalHash } = approval;
      const events = [{ type: "approval.given", ...approval } as const];
      const about = (waiting: readonly UndecidedUnit[]) =>
        waiting.some(
          (unit) => unit.key === stepId && "approvalHash" in unit && unit.approvalHash === approvalHash,
        )
          ? events
          : undefined;
      const decide = ({ plan, read, given }: DecisionState): Decided<ApprovalAnswer> => {
        const step = stepRunAt(read, stepId);
        if (!step) return { type: "unknown" };
        const earlier = given.approvals.find(
          (one) => one.stepId === stepId && one.approvalHash === approvalHash,
        );
        if (earlier) {
          return earlier.approved === approved
            ? { type: "recorded", plan, by: earlier.by }
            : { type: "decided", step };
        }
        if (step.status !== "WAITING_APPROVAL" || !isOpen(plan) || read.plan?.endedSeq !== null)
          return { type: "not waiting", step };
        if (step.expiresAt && step.expiresAt.getTime() <= context.clock.now())
          return { type: "expired", step };
        if (step.approvalHash !== approvalHash) return { type: "stale", step };
        return events;
      };
      const answer = await askDecision(context, { tenant, planId, by, about, decide });
      if (!answer) return { type: "unknown" };
      return answer.type === "asked" ? { type: "recorded", plan: answer.plan, by } : answer;
    },
  };
}

/** Filter: a plan that a pause changes. */
export const IS_TO_BE_PAUSED = {
  status: { $in: PAUSABLE_PLAN_STATUSES },
  pauseRequestedAt: null,
  cancelRequestedAt: null,
};

const IS_PAUSED = { $eq: ["$status", "PAUSED"] };

/**
 * Changes by a pause: a plan that no executor holds is paused at once, for ever. It is claimed only when an approval
 * expires meanwhile; documents of earlier versions name that time only in `dueAt`.
 */
export function pausedSince(at: "$$NOW" | Date): Document {
  return {
    pauseRequestedAt: at,
    status: { $cond: [IS_FREE, "PAUSED", "$status"] },
    waitReason: { $cond: [IS_FREE, "paused", "$waitReason"] },
    dueAt: {
      $cond: [
        { $or: [{ $not: [IS_FREE] }, { $eq: ["$waitReason", "approval"] }] },
        "$dueAt",
        { $ifNull: ["$approvalUntil", null] },
      ],
    },
  };
}

const RESUMED: Document = {
  pauseRequestedAt: null,
  status: { $cond: [IS_PAUSED, { $cond: [IS_FREE, "QUEUED", "RUNNING"] }, "$status"] },
  waitReason: { $cond: [IS_PAUSED, null, "$waitReason"] },
};

function createPause(context: StoreDependencies) {
  const { plans } = context.collections;
  return {
    /** Starts no more calls of a plan: PAUSED at once, or when its calls have ended. Null when unknown. */
    async requestPause(tenant: string, planId: PlanId, by: string): Promise<PlanDocument | null> {
      const events = [{ type: "pause.asked" } as const];
      const change = pausedSince("$$NOW");
      const asked = { events, by, condition: IS_TO_BE_PAUSED, change };
      const paused = await askControl(context, tenant, planId, asked);
      return paused ?? plans.findOne({ _id: planId, tenant });
    },

    /** PAUSED -> QUEUED, due now. A plan with another status is not changed. Null when unknown. */
    async requestResume(tenant: string, planId: PlanId, by: string): Promise<PlanDocument | null> {
      const condition = { pauseRequestedAt: { $ne: null } };
      const events = [{ type: "resume.asked" } as const];
      const asked = { events, by, condition, change: RESUMED };
      const resumed = await askControl(context, tenant, planId, asked);
      return resumed ?? plans.findOne({ _id: planId, tenant });
    },
  };
}

function createCancel(context: StoreDependencies) {
  const { collections, transact, unitReads } = context;
  const { plans } = collections;

  /** Ends a plan that was never started, unless it is started, replaced or removed meanwhile. */
  async function endUnstarted(tenant: string, plan: PlanDocument, by: string): Promise<void> {
    const { _id: planId } = plan;
    const read = await unitReads.ofPlan(tenant, planId);
    if (!read || !isUnstarted(plan, read)) return;
    const end = endEvent({ type: "finish", status: "CANCELLED", outputs: null });
    const events = [...cancelled(plan, read), end];
    const { entry } = nextEntry(plan, read.request, { by: { kind: "api", id: by }, events });
    await transact({
      entry,
      following: (stamped) =>
        endWrites(plan, { end, folded: fold(read.request, [stamped]).plans.get(planId) }),
    });
  }

  return {
    /** Ends a READY plan at once; a later one gets `cancelRequestedAt`. Null when unknown. */
    async requestCancel(tenant: string, planId: PlanId, by: string): Promise<PlanDocument | null> {
      for (;;) {
        const asked = await askControl(context, tenant, planId, {
          events: [{ type: "cancel.asked" }],
          by,
          condition: { cancelRequestedAt: null },
          change: { cancelRequestedAt: "$$NOW" },
        });
        if (asked) return asked;
        const found = await plans.findOne({ _id: planId, tenant });
        // It was started in between.
        if (found && isOpen(found) && found.cancelRequestedAt === null) continue;
        if (found?.status !== "READY") return found;
        await endUnstarted(tenant, found, by);
      }
    },
  };
}

/** True for the current version, unless its journal says that it was started. */
function isUnstarted({ version }: PlanDocument, { plan, request }: PlanUnits): boolean {
  const current = [...request.plans.values()].at(-1)?.version ?? version;
  return current === version && UNSTARTED_PLAN_STATUSES.includes(plan?.status ?? "READY");
}

/** The events that cancel all steps, none of which has begun, except those that were carried over. */
function cancelled({ plan }: PlanDocument, read: PlanUnits): JournalEvent[] {
  const isOpen = (id: string): boolean => !isSettledStepStatus(read.plan?.units.get(id)?.status ?? "PENDING");
  return (plan?.steps ?? [])
    .filter(({ id }) => isOpen(id))
    .map(({ id }): JournalEvent => {
      return { type: "step.changed", key: id, stepId: id, status: "CANCELLED" };
    });
}

type ApprovalAnswer =
  /** The decision is recorded; `by` is the operator who decided first. */
  | { type: "recorded"; plan: PlanDocument; by: string }
  /** Another hash waits for approval. */
  | { type: "stale"; step: StepRun }
  /** The time for this approval is over: the step fails as soon as an executor sees that. */
  | { type: "expired"; step: StepRun }
  /** The step does not wait for approval, not yet or no longer. */
  | { type: "not waiting"; step: StepRun }
  /** The opposite was decided before. */
  | { type: "decided"; step: StepRun }
  /** No such plan, or no such step in it. */
  | { type: "unknown" };

/** Controls of clients and operators. */
export type ControlStore = ReturnType<typeof createControlStore>;
