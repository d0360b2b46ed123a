import { fold, type JournalEvent } from "@planwright/engine";
import { isSettledStepStatus, UNSTARTED_PLAN_STATUSES } from "@planwright/plan";
import { endEvent, endedBy, followingEnd, readEnd, writeEnd } from "../heads/plan-end.ts";
import type { StoreDependencies } from "../journal/dependencies.ts";
import { nextEntry } from "../journal/next-entry.ts";
import type { TurnResult } from "../journal/request-turns.ts";
import type { PlanUnits } from "../journal/unit-reads.ts";
import type { PlanDocument } from "../records/plan-document.ts";
import { type AskControl, isOpen } from "./ask-control.ts";
import type { ControlStore } from "./control-store.ts";

/** The part of the store that ends plans on request. */
export function createCancel(
  context: StoreDependencies,
  askControl: AskControl,
): Pick<ControlStore, "requestCancel"> {
  const { collections, journal, settleOutbox, turns, unitReads } = context;
  const { plans } = collections;

  /**
   * Ends a plan that was never started. Its end is an entry; the documents of the plan and of the request
   * follow. `taken`: another entry of the request was appended meanwhile.
   */
  async function endUnstarted(tenant: string, plan: PlanDocument, by: string): Promise<TurnResult["type"]> {
    const { _id: planId, requestId } = plan;
    const read = await unitReads.ofPlan(tenant, planId);
    if (!read) return "removed";
    // The end is in the journal already: the process that appended it died before it updated the documents,
    // or it was for another client.
    const earlier = await readEnd(journal, requestId, read.plan);
    if (earlier) {
      await writeEnd(context, plan, earlier);
      return "appended";
    }
    // The plan was started after its document was read, or there is another version. If the documents do not
    // say so, the process that writes them may have died.
    if (!isUnstarted(plan, read)) {
      await settleOutbox.ofRequest(requestId);
      return "taken";
    }
    const end = endEvent({ type: "finish", status: "CANCELLED", outputs: null });
    const events = [...cancelled(plan, read), end];
    const { entry } = nextEntry(plan, read.request, { by: { kind: "api", id: by }, events });
    const { type } = await turns.append({
      entry,
      isKept: true,
      following(stamped) {
        const after = fold(read.request, [stamped]).plans.get(planId);
        return followingEnd(plan, endedBy(end, after), stamped.at);
      },
    });
    return type;
  }

  return {
    async requestCancel(tenant, planId, by) {
      for (;;) {
        const asked = await askControl(tenant, planId, {
          event: { type: "cancel.asked" },
          by,
          condition: { cancelRequestedAt: null },
          change: { cancelRequestedAt: "$$NOW" },
        });
        if (asked) return asked;
        const found = await plans.findOne({ _id: planId, tenant });
        // It was started in between.
        if (found && isOpen(found) && found.cancelRequestedAt === null) continue;
        // A plan that was cancelled before its start is checked again: the process that did it may have died
        // before it updated the request.
        const wasStarted =
          found?.status !== "READY" && (found?.status !== "CANCELLED" || found.startedAt !== null);
        if (wasStarted) return found;
        const type = await endUnstarted(tenant, found, by);
        if (type === "removed") return null;
        if (type === "appended") return plans.findOne({ _id: planId, tenant });
      }
    },
  };
}

/** True for the current version, unless its journal says that it was started. */
function isUnstarted({ version }: PlanDocument, { plan, request }: PlanUnits): boolean {
  const current = [...request.plans.values()].at(-1)?.version ?? version;
  return current === version && UNSTARTED_PLAN_STATUSES.includes(plan?.status ?? "READY");
}

/**
 * The events that cancel all steps, none of which has begun. Steps that were carried over are kept as they
 * are.
 */
function cancelled({ plan }: PlanDocument, read: PlanUnits): JournalEvent[] {
  const isOpen = (id: string): boolean => !isSettledStepStatus(read.plan?.units.get(id)?.status ?? "PENDING");
  return (plan?.steps ?? [])
    .filter(({ id }) => isOpen(id))
    .map(({ id }): JournalEvent => {
      return { type: "step.changed", key: id, stepId: id, status: "CANCELLED" };
    });
}
