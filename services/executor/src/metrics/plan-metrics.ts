import { type StepRecord, unitTime, waitedForPeopleMs } from "@planwright/engine";
import { isTerminalStepStatus, toolOfStep } from "@planwright/plan";
import type { FinishCommand, PlanClaim } from "@planwright/store";
import type { PlanTools } from "../tools/plan-tools.ts";
import type { RunMetrics } from "./run-metrics.ts";

/** Counts the ends of one plan and of its steps. */
export interface PlanMetrics {
  /** Units changed, durably. */
  recorded(records: readonly StepRecord[]): void;
  /** The plan has ended, durably. */
  ended(end: Pick<FinishCommand, "status" | "error">): void;
}

export function createPlanMetrics(
  metrics: RunMetrics,
  { plan, journal }: Pick<PlanClaim, "plan" | "journal">,
  planTools: Pick<PlanTools, "addressOf">,
): PlanMetrics {
  const tools = new Map<string, string>(plan.plan.steps.map((step) => [step.id, toolOfStep(step)]));
  const toolOf = (stepId: string) => {
    const tool = tools.get(stepId) ?? "";
    return { tool, server: planTools.addressOf(tool).server };
  };
  return {
    recorded(records) {
      for (const { key, stepId, status, error, carried } of records) {
        if (status === "IN_DOUBT") metrics.inDoubt();
        if (carried || !isTerminalStepStatus(status)) continue;
        const unit = journal.unit(key);
        const durationMs = (unit && unitTime(unit, journal.plan()?.waits ?? [])?.ownMs) ?? null;
        metrics.stepEnded({ ...toolOf(stepId), status, error, durationMs });
      }
    },
    ended({ status, error }) {
      const data = error?.data;
      const stepId =
        typeof data === "object" && data !== null && "stepId" in data ? data["stepId"] : undefined;
      const { server } = typeof stepId === "string" ? toolOf(stepId) : {};
      const ended = journal.plan();
      const { finishedAt = null } = ended ?? {};
      const totalMs = plan.queuedAt && finishedAt && finishedAt.getTime() - plan.queuedAt.getTime();
      const peopleMs = ended && finishedAt ? waitedForPeopleMs(ended, finishedAt) : 0;
      const durationMs = totalMs === null ? null : Math.max(0, totalMs - peopleMs);
      metrics.ended({ status, error, server, durationMs });
    },
  };
}
