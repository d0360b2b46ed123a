/**
 * Controls are entries (J6): a control of a plan that was started is stored in the journal of its request,
 * with its author and time.
 *
 * 1. A control follows from all entries before it: when another entry was appended first, it is decided
 *    again.
 * 2. It needs no lease and ends none: the owner sees it in the plan's document within 1 s, or at its next
 *    append.
 * 3. The plan's document follows the entry in the same command. If it lags after a crash, the next control
 *    completes it. A control that is in the journal already changes nothing.
 */
import type { FoldedPlan, JournalEvent } from "@planwright/engine";
import { type PlanId, UNSTARTED_PLAN_STATUSES } from "@planwright/plan";
import type { Document } from "mongodb";
import { planAfterControl, RESUMED } from "../heads/plan-after-control.ts";
import type { StoreDependencies } from "../journal/dependencies.ts";
import { nextEntry } from "../journal/next-entry.ts";
import type { FollowingWrite } from "../journal/turn-log.ts";
import type { PlanUnits } from "../journal/unit-reads.ts";
import type { PlanDocument } from "../records/plan-document.ts";

/** A plan and the state folded from its journal, when a control is decided. */
export interface ControlledPlan {
  plan: PlanDocument;
  read: PlanUnits;
}

/** An event to append, with the change of the plan's document; or an answer when nothing is to be changed. */
export type ControlDecision<Answer> =
  | { type: "append"; event: JournalEvent; by: string; head: Document }
  | { type: "answer"; answer: Answer };

/** A control that was appended, and the plan's document after it. */
export interface AppendedControl {
  type: "appended";
  plan: PlanDocument;
}

/** Appends controls. */
export interface AppendControl {
  /**
   * Undefined for an unknown plan, for one that is being removed, and for another tenant's.
   * @throws {StoreUnavailableError}
   */
  <Answer>(
    tenant: string,
    planId: PlanId,
    decide: (now: ControlledPlan) => ControlDecision<Answer>,
  ): Promise<AppendedControl | Answer | undefined>;
}

/** Controls over turns. */
export function createAppendControl({
  collections,
  unitReads,
  turns,
}: Pick<StoreDependencies, "collections" | "unitReads" | "turns">): AppendControl {
  const { plans } = collections;

  return async (tenant, planId, decide) => {
    for (;;) {
      const [plan, read] = await Promise.all([
        plans.findOne({ _id: planId, tenant }),
        unitReads.ofPlan(tenant, planId),
      ]);
      if (!plan || !read || read.request.isRemoved) return undefined;
      if (read.plan && read.plan.controlSeq > plan.controlSeq && !plan.finishedAt)
        await turns.follow([missingControl(plan, read.plan)]);
      const decided = decide({ plan, read });
      if (decided.type === "answer") return decided.answer;
      const { event, by, head } = decided;
      const events = [...startOf(read), event];
      const { entry } = nextEntry(plan, read.request, { by: { kind: "api", id: by }, events });
      const { type } = await turns.append({
        entry,
        following: ({ seq }) => [planAfterControl(planId, seq, head)],
      });
      if (type === "removed") return undefined;
      if (type === "taken") continue;
      const after = await plans.findOne({ _id: planId, tenant });
      return { type: "appended", plan: after ?? plan };
    }
  };
}

/**
 * The write of a control that is missing in the plan's document, because its process and MongoDB died before
 * it was done. An executor then finds the plan and applies the control.
 */
function missingControl({ _id }: PlanDocument, folded: FoldedPlan): FollowingWrite {
  const { controlSeq, cancelAskedAt, pauseAskedAt } = folded;
  return planAfterControl(_id, controlSeq, {
    cancelRequestedAt: cancelAskedAt,
    ...(pauseAskedAt ? { pauseRequestedAt: pauseAskedAt } : RESUMED),
  });
}

/** Until a plan has its first entry, only its document says that its execution was asked for. */
function startOf({ plan }: PlanUnits): JournalEvent[] {
  return UNSTARTED_PLAN_STATUSES.includes(plan?.status ?? "READY") ? [{ type: "execution.asked" }] : [];
}
