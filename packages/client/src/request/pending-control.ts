import type { PlanRun, StepRun } from "./run.ts";

/** A cancel or pause that waits for running calls. */
export interface PendingControl {
  control: "cancelling" | "pausing";
  /** When it was requested, as the API wrote it. */
  since: string;
  /** Number of running calls; null when the steps are not known. */
  calls: number | null;
}

type ControlledPlan = Pick<PlanRun, "status" | "finishedAt" | "cancelRequestedAt" | "pauseRequestedAt"> & {
  steps?: readonly Pick<StepRun, "id" | "item" | "status">[];
};

/**
 * The cancel or pause that was requested and is not complete; null if there is none. A cancel takes
 * precedence. Pure.
 */
export function pendingControl(plan: ControlledPlan | null): PendingControl | null {
  if (!plan || plan.finishedAt !== null) return null;
  const calls = plan.steps ? runningCalls(plan.steps) : null;
  if (plan.cancelRequestedAt !== null) return { control: "cancelling", since: plan.cancelRequestedAt, calls };
  if (plan.pauseRequestedAt === null || plan.status === "PAUSED") return null;
  return { control: "pausing", since: plan.pauseRequestedAt, calls };
}

/** The same in words: "cancelling: waits for 2 running calls". */
export function pendingText({ control, calls }: Pick<PendingControl, "control" | "calls">): string {
  if (calls === null || calls === 0) return control;
  return `${control}: waits for ${calls} running call${calls === 1 ? "" : "s"}`;
}

/** The number of running calls. Of a forEach step the items count, not the step itself. */
function runningCalls(steps: readonly Pick<StepRun, "id" | "item" | "status">[]): number {
  const lists = new Set(steps.filter(({ item }) => item !== null).map(({ id }) => id));
  return steps.filter(({ id, item, status }) => status === "RUNNING" && (item !== null || !lists.has(id)))
    .length;
}
