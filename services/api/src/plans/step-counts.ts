import type { StepStatus } from "@planwright/plan";

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

/** The steps of a plan in the words of the API. Pure. @param counted - its steps by status */
export function toStepCounts(
  total: number,
  counted: readonly { status: StepStatus; count: number }[],
): StepCounts {
  const counts: StepCounts = {
    total,
    completed: 0,
    failed: 0,
    skipped: 0,
    cancelled: 0,
    inDoubt: 0,
    running: 0,
    pending: 0,
  };
  for (const { status, count } of counted) counts[FIELD[status]] += count;
  return counts;
}
