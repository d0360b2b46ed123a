/**
 * Controls are entries (J6): what clients and operators ask of a plan that was started stands in the journal
 * of its request, with who asked and when.
 *
 * 1. A control follows from all entries before it: where another one came between, it is decided anew.
 * 2. It needs no lease, and takes none away: the owner hears of it from the plan's document within 1 s, or
 *    when it appends next.
 * 3. The plan's document follows the entry in the same command; where it lags after a crash, the next control
 *    completes it. A control that is in the journal already changes nothing.
 */
import type { FoldedPlan, JournalEvent } from "@planwright/engine";
import { type PlanId, UNSTARTED_PLAN_STATUSES } from "@planwright/plan";
import type { Document } from "mongodb";
import { planAfterControl, RESUMED } from "../heads/plan-after-control.ts";
import type { StoreDependencies } from "../journal/dependencies.ts";
import { nextEntry } from "../journal/next-entry.ts";
import type { Following } from "../journal/turn-log.ts";
import type { PlanUnits } from "../journal/unit-reads.ts";
import type { PlanDocument } from "../records/plan-document.ts";

/** A plan with what its journal tells, when a control is decided. */
export interface ControlledPlan {
  plan: PlanDocument;
  read: PlanUnits;
}

/** What is to be told, with what follows for the plan's document; or an answer, where nothing is. */
export type ControlDecision<Answer> =
  | { type: "tell"; event: JournalEvent; by: string; head: Document }
  | { type: "answer"; answer: Answer };

/** What was told, and the plan's document behind it. */
export interface Told {
  type: "told";
  plan: PlanDocument;
}

/** Appends controls. */
export interface AppendControl {
  /** Undefined for an unknown plan, and for another tenant's. @throws {StoreUnavailableError} */
  <Answer>(
    tenant: string,
    planId: PlanId,
    decide: (now: ControlledPlan) => ControlDecision<Answer>,
  ): Promise<Told | Answer | undefined>;
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
      if (!plan || !read) return undefined;
      if (read.plan && read.plan.controlSeq > plan.controlSeq && !plan.finishedAt)
        await turns.follow([lostControl(plan, read.plan)]);
      const decided = decide({ plan, read });
      if (decided.type === "answer") return decided.answer;
      const { event, by, head } = decided;
      const events = [...startOf(read), event];
      const { entry } = nextEntry(plan, read.request, { by: { kind: "api", id: by }, events });
      const { type } = await turns.append({
        entry,
        following: ({ seq }) => [planAfterControl(planId, seq, head)],
      });
      if (type === "taken") continue;
      const after = await plans.findOne({ _id: planId, tenant });
      return { type: "told", plan: after ?? plan };
    }
  };
}

/**
 * A control whose process died, with MongoDB, before the plan's document said so: an executor looks at the
 * plan, and acts on it.
 */
function lostControl({ _id }: PlanDocument, told: FoldedPlan): Following {
  const { controlSeq, cancelAskedAt, pauseAskedAt } = told;
  return planAfterControl(_id, controlSeq, {
    cancelRequestedAt: cancelAskedAt,
    ...(pauseAskedAt ? { pauseRequestedAt: pauseAskedAt } : RESUMED),
  });
}

/** That its execution was asked for is on the plan's document alone, until something is told of it. */
function startOf({ plan }: PlanUnits): JournalEvent[] {
  return UNSTARTED_PLAN_STATUSES.includes(plan?.status ?? "READY") ? [{ type: "execution.asked" }] : [];
}
