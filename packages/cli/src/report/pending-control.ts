import type { PlanSnapshot, StepSnapshot } from "../api/request-snapshot.ts";
import { count } from "./format.ts";

/** What was asked of a plan and waits for calls under way. */
export interface PendingControl {
  control: "cancelling" | "pausing";
  /** Since when, as the API wrote it. */
  since: string;
  /** Calls under way; null where the steps are not known. */
  calls: number | null;
}

type ControlledPlan = Pick<
  PlanSnapshot,
  "status" | "finishedAt" | "cancelRequestedAt" | "pauseRequestedAt"
> & {
  steps?: readonly StepSnapshot[];
};

/** A cancel or pause that was asked for and has not come about; null where there is none. A cancel wins. Pure. */
export function pendingControl(plan: ControlledPlan | null): PendingControl | null {
  if (!plan || plan.finishedAt !== null) return null;
  const calls = plan.steps ? callsUnderWay(plan.steps) : null;
  if (plan.cancelRequestedAt !== null) return { control: "cancelling", since: plan.cancelRequestedAt, calls };
  if (plan.pauseRequestedAt === null || plan.status === "PAUSED") return null;
  return { control: "pausing", since: plan.pauseRequestedAt, calls };
}

/** The same in words: "cancelling: waits for 2 running calls". */
export function pendingText({ control, calls }: Pick<PendingControl, "control" | "calls">): string {
  return calls === null || calls === 0 ? control : `${control}: waits for ${count(calls, "running call")}`;
}

/** Of a list its items call, not the list itself. */
function callsUnderWay(steps: readonly StepSnapshot[]): number {
  const lists = new Set(steps.filter(({ item }) => item !== null).map(({ id }) => id));
  return steps.filter(({ id, item, status }) => status === "RUNNING" && (item !== null || !lists.has(id)))
    .length;
}
