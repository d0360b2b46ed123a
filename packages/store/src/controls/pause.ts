import { PAUSABLE_PLAN_STATUSES, STARTED_PLAN_STATUSES } from "@planwright/plan";
import { IS_FREE, RESUMED } from "../heads/plan-after-control.ts";
import type { PlanDocument } from "../records/plan-document.ts";
import type { AppendControl } from "./append-control.ts";
import type { ControlStore } from "./control-store.ts";

/** The part of the store that pauses and resumes plans. */
export function createPause(
  appendControl: AppendControl,
): Pick<ControlStore, "requestPause" | "requestResume"> {
  return {
    async requestPause(tenant, planId, by) {
      const paused = await appendControl<PlanDocument>(tenant, planId, ({ plan, read }) => {
        const isPausable =
          PAUSABLE_PLAN_STATUSES.includes(plan.status) &&
          !read.plan?.pauseAskedAt &&
          !read.plan?.cancelAskedAt &&
          (read.plan?.endedSeq ?? null) === null;
        if (!isPausable) return { type: "answer", answer: plan };
        const head = {
          pauseRequestedAt: "$$NOW",
          // A plan that no executor holds is paused at once and claimed again only at its deadline.
          status: { $cond: [IS_FREE, "PAUSED", "$status"] },
          waitReason: { $cond: [IS_FREE, "paused", "$waitReason"] },
          dueAt: { $cond: [IS_FREE, "$deadlineAt", "$dueAt"] },
        };
        return { type: "append", event: { type: "pause.asked" }, by, head };
      });
      return planOf(paused);
    },

    async requestResume(tenant, planId, by) {
      const resumed = await appendControl<PlanDocument>(tenant, planId, ({ plan, read }) => {
        const isPaused =
          STARTED_PLAN_STATUSES.includes(plan.status) &&
          read.plan?.pauseAskedAt &&
          read.plan.endedSeq === null;
        if (!isPaused) return { type: "answer", answer: plan };
        return { type: "append", event: { type: "resume.asked" }, by, head: RESUMED };
      });
      return planOf(resumed);
    },
  };
}

/** The plan as it is now, whether or not a control was appended; null for an unknown plan. */
export function planOf(
  result: { type: "appended"; plan: PlanDocument } | PlanDocument | undefined,
): PlanDocument | null {
  if (!result) return null;
  return "type" in result ? result.plan : result;
}
