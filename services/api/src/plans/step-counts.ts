import type { StepStatus } from "@planwright/plan";
import type { PlanDocument, StepDocument } from "@planwright/store";

/** Steps of a plan by how they stand; the items of a forEach are part of their step. */
export interface StepCounts {
  total: number;
  completed: number;
  failed: number;
  skipped: number;
  cancelled: number;
  inDoubt: number;
  /** Begun and not over. */
  running: number;
  /** Not begun. */
  pending: number;
}

const FIELD: Readonly<Record<StepStatus, Exclude<keyof StepCounts, "total">>> = {
  PENDING: "pending",
  WAITING_APPROVAL: "pending",
  RUNNING: "running",
  RETRYING: "running",
  COMPLETED: "completed",
  FAILED: "failed",
  SKIPPED: "skipped",
  IN_DOUBT: "inDoubt",
  CANCELLED: "cancelled",
};

/** Counts the steps of a plan. Pure. */
export function countSteps(plan: PlanDocument, recorded: readonly StepDocument[]): StepCounts {
  const counts: StepCounts = {
    total: plan.plan?.steps.length ?? 0,
    completed: 0,
    failed: 0,
    skipped: 0,
    cancelled: 0,
    inDoubt: 0,
    running: 0,
    pending: 0,
  };
  for (const { item, status } of recorded) if (item === null) counts[FIELD[status]] += 1;
  return counts;
}
