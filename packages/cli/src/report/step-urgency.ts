import type { StepStatus } from "@planwright/plan";

/** The order in which a reader wants to see steps: the lowest first. */
const URGENCY: Readonly<Record<StepStatus, number>> = {
  FAILED: 0,
  IN_DOUBT: 1,
  WAITING_APPROVAL: 2,
  RETRYING: 3,
  RUNNING: 4,
  PENDING: 5,
  COMPLETED: 6,
  SKIPPED: 7,
  CANCELLED: 8,
};

/**
 * The rank of a step with this status, from 0, the most urgent. An unknown status comes last: the API may be
 * newer.
 */
export function urgencyOf(status: string): number {
  return Object.hasOwn(URGENCY, status) ? URGENCY[status as StepStatus] : Object.keys(URGENCY).length;
}

/** True for a step that failed, waits for a person, or runs: an operator wants to see it in full. */
export function isWorthSeeing(status: string): boolean {
  return urgencyOf(status) <= URGENCY.RUNNING;
}
