import type { JournalEvent } from "@planwright/engine";
import type { PlanId } from "@planwright/plan";
import type { StoreDependencies } from "../journal/dependencies.ts";
import { nextEntry } from "../journal/next-entry.ts";
import { askedEvent, controlsAfter, HAS_CONTROLS } from "../plans/pending-controls.ts";
import type { PendingControl, PlanDocument } from "../records/plan-document.ts";
import { createAskControl, createAskDecision } from "./ask-control.ts";
import { createReplan } from "./replan.ts";
import { createResolve } from "./resolve.ts";

/**
 * Settles controls that were asked while the owner wrote the last entry of their plan: they follow the end in
 * the journal. A doubt gets its last state, and a cancel also ends the replanning that the end began. A pause,
 * a resume and an approval find nothing to do.
 */
export function createSettleLateControls(context: StoreDependencies): (planId: PlanId) => Promise<void> {
  const { collections, transact, group, unitReads } = context;
  const askDecision = createAskDecision(context, createAskControl(context));
  const decisions = createResolve(context, askDecision);
  const changes = createReplan(context);

  /** A repeat after a crash changes nothing. */
  async function apply(plan: PlanDocument, { event, by }: PendingControl): Promise<void> {
    const { _id: planId, requestId, tenant } = plan;
    if (event.type === "doubt.resolved") {
      const { key, attempt, resolution } = event;
      await decisions.resolveUnit(tenant, planId, { key, attempt, resolution, by });
    }
    if (event.type !== "cancel.asked") return;
    const request = await collections.requests.findOne({
      _id: requestId,
      tenant,
      planId,
      status: "PLANNING",
    });
    if (request) await changes.cancelPlanning(tenant, requestId, by);
  }

  /** Appends a control behind the end, unless it is in the journal, or the request is being removed. */
  async function record(plan: PlanDocument, control: PendingControl): Promise<void> {
    const events: JournalEvent[] = [askedEvent(control)];
    for (;;) {
      const request = await unitReads.ofRequest(plan.requestId);
      if (request.isRemoved || (request.plans.get(plan._id)?.controlSeq ?? 0) >= control.id) return;
      const by = { kind: "api", id: control.by } as const;
      const { entry } = nextEntry(plan, request, { by, events });
      const expressions = { controls: controlsAfter(control.id) };
      const condition = { finishedAt: { $ne: null } };
      const { type } = await transact({
        entry,
        following: () => [{ collection: "plans", id: plan._id, condition, expressions }],
      });
      if (type === "appended") return;
      if (!(await collections.plans.findOne({ _id: plan._id }, { projection: { _id: 1 } }))) return;
    }
  }

  return async (planId) => {
    const plan = await collections.plans.findOne({ _id: planId, finishedAt: { $ne: null }, ...HAS_CONTROLS });
    if (!plan) return;
    for (const control of plan.controls ?? []) {
      await apply(plan, control);
      await record(plan, control);
    }
    // A plan that has ended takes no controls.
    await group.set({ collection: "plans", id: planId, condition: {}, set: { controls: [], dueAt: null } });
  };
}
