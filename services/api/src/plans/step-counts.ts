import type { StepStatus } from "@planwright/plan";

/** Numbers of steps by status; items of a forEach are not counted separately. */
export interface StepCounts {
  total: number;
  completed: number;
  failed: number;
  skipped: number;
  cancelled: number;
  inDoubt: number;
  /** Started, but not ended. */
  running: number;
  /** Not started. */
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

/** Groups the statuses of steps. Pure. @param counted - numbers of steps by status */
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
