import { type StepError, type StepRecord, unitTime, waitedForPeopleMs } from "@planwright/engine";
import { isTerminalStepStatus, type StepStatus, toolOfStep, type WaitReason } from "@planwright/plan";
import type { AttemptEnd, FinishCommand, PlanClaim } from "@planwright/store";
import type { PlanTools } from "../tools/plan-tools.ts";

/** The tool of a step or call, by its name in the plan. */
export interface CountedTool {
  tool: string;
  /** Undefined when the catalogue does not have the tool. */
  server: string | undefined;
}

/** What failed, and why. */
export interface CountedFailure {
  /** Undefined when nothing failed. */
  error: Pick<StepError, "code"> | undefined;
}

/**
 * Counts events of plans and calls. Called once per event, on the path of every step, so it never waits and
 * never throws.
 */
export interface RunMetrics {
  /** A plan was claimed by this process. @param waited - null: it did not wait */
  claimed(waited: { reason: WaitReason; ms: number } | null): void;
  /** How many plans this process works on now. */
  held(plans: number): void;
  /**
   * The terminal status of a plan became durable. @param end.server - of the step because of which it failed
   * @param end.durationMs - own time since its execution was accepted; null: not known
   */
  ended(
    end: {
      status: FinishCommand["status"];
      server: string | undefined;
      durationMs: number | null;
    } & CountedFailure,
  ): void;
  /**
   * The terminal status of a step or item became durable.
   * @param end.durationMs - own time since its first attempt; null: it was never called
   */
  stepEnded(end: { status: StepStatus; durationMs: number | null } & CountedTool & CountedFailure): void;
  /** Work on a plan was abandoned because its lease was lost. */
  leaseLost(): void;
  /** A call was sent that is not the first of its step. */
  retried(): void;
  /** A tool call that was sent ended. */
  attempted(end: Pick<AttemptEnd, "outcome" | "durationMs"> & CountedTool & CountedFailure): void;
  /** A call was not sent, because its server could not be reached. */
  unreachable(server: string | undefined): void;
  /** A call ended in doubt: it is unknown whether it had its effect, and this is durable. */
  inDoubt(): void;
  /** Bytes of outputs in memory that could be dropped, over all plans. */
  outputsHeld(bytes: number): void;
  /** Dropped outputs were read again. */
  outputsRead(bytes: number): void;
  /** Bytes of arguments and of outputs being read, over all plans. */
  memoryReserved(bytes: number): void;
}

/** Counts nothing. */
export const NO_METRICS: RunMetrics = {
  claimed: () => undefined,
  held: () => undefined,
  ended: () => undefined,
  stepEnded: () => undefined,
  leaseLost: () => undefined,
  retried: () => undefined,
  attempted: () => undefined,
  unreachable: () => undefined,
  inDoubt: () => undefined,
  outputsHeld: () => undefined,
  outputsRead: () => undefined,
  memoryReserved: () => undefined,
};

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
