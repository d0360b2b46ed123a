import { z } from "zod";

/** States of a plan; see {@link PLAN_TRANSITIONS} for the moves. */
export const PlanStatusSchema = z.enum([
  "INVALID",
  "AWAITING_APPROVAL",
  "READY",
  "QUEUED",
  "RUNNING",
  "WAITING",
  "PAUSED",
  "CANCELLING",
  "COMPLETED",
  "PARTIAL",
  "FAILED",
  "CANCELLED",
  "EXPIRED",
  "SUPERSEDED",
]);
export type PlanStatus = z.infer<typeof PlanStatusSchema>;

/** States of a step and of a forEach item. */
export const StepStatusSchema = z.enum([
  "PENDING",
  "WAITING_APPROVAL",
  "RUNNING",
  "RETRYING",
  "COMPLETED",
  "FAILED",
  "SKIPPED",
  "IN_DOUBT",
  "CANCELLED",
]);
export type StepStatus = z.infer<typeof StepStatusSchema>;

/** States of a request. */
export const RequestStatusSchema = z.enum([
  "PLANNING",
  "NEEDS_INPUT",
  "READY",
  "EXECUTING",
  "COMPLETED",
  "PARTIAL",
  "FAILED",
  "CANCELLED",
]);
export type RequestStatus = z.infer<typeof RequestStatusSchema>;

/** Why an unfinished step waits. */
export const WaitReasonSchema = z.enum([
  "dependency",
  "limit",
  "backoff",
  "approval",
  "in doubt",
  "paused",
  "no worker",
]);
export type WaitReason = z.infer<typeof WaitReasonSchema>;

/** Allowed moves of a plan. A status without moves is terminal and never changes. */
export const PLAN_TRANSITIONS: Readonly<Record<PlanStatus, readonly PlanStatus[]>> = {
  INVALID: [],
  AWAITING_APPROVAL: ["READY", "CANCELLED", "EXPIRED", "SUPERSEDED"],
  READY: ["QUEUED", "CANCELLED", "EXPIRED", "SUPERSEDED"],
  QUEUED: ["RUNNING", "PAUSED", "CANCELLING", "CANCELLED", "EXPIRED", "FAILED"],
  RUNNING: [
    "QUEUED",
    "WAITING",
    "PAUSED",
    "CANCELLING",
    "COMPLETED",
    "PARTIAL",
    "FAILED",
    "CANCELLED",
    "EXPIRED",
  ],
  WAITING: ["RUNNING", "PAUSED", "CANCELLING", "FAILED", "CANCELLED", "EXPIRED"],
  // A paused plan ends when its last open step is settled by an operator.
  PAUSED: ["QUEUED", "RUNNING", "CANCELLING", "CANCELLED", "EXPIRED", "FAILED", "COMPLETED", "PARTIAL"],
  CANCELLING: ["CANCELLED", "COMPLETED", "PARTIAL", "FAILED", "EXPIRED"],
  COMPLETED: [],
  PARTIAL: [],
  FAILED: [],
  CANCELLED: [],
  EXPIRED: [],
  SUPERSEDED: [],
};

/** Allowed moves of a step and of an item. */
export const STEP_TRANSITIONS: Readonly<Record<StepStatus, readonly StepStatus[]>> = {
  PENDING: ["RUNNING", "WAITING_APPROVAL", "SKIPPED", "FAILED", "CANCELLED"],
  WAITING_APPROVAL: ["PENDING", "FAILED", "SKIPPED", "CANCELLED"],
  RUNNING: ["COMPLETED", "FAILED", "IN_DOUBT", "RETRYING", "CANCELLED"],
  RETRYING: ["RUNNING", "FAILED", "CANCELLED"],
  IN_DOUBT: ["COMPLETED", "FAILED", "PENDING"],
  COMPLETED: [],
  FAILED: [],
  SKIPPED: [],
  CANCELLED: [],
};

/** True when a plan can never change again. */
export function isTerminalPlanStatus(status: PlanStatus): boolean {
  return PLAN_TRANSITIONS[status].length === 0;
}

/** True when a step can never change again. IN_DOUBT is not terminal: an operator may still resolve it. */
export function isTerminalStepStatus(status: StepStatus): boolean {
  return STEP_TRANSITIONS[status].length === 0;
}

/** What clients of the older systems read. */
export type ExecutionState = "pending" | "in-progress" | "completed" | "failed";

/** The older clients' word for a plan's status. PARTIAL is "completed": the requested outputs that could be had are there. */
export function toExecutionState(status: PlanStatus): ExecutionState {
  switch (status) {
    case "AWAITING_APPROVAL":
    case "READY":
      return "pending";
    case "QUEUED":
    case "RUNNING":
    case "WAITING":
    case "PAUSED":
    case "CANCELLING":
      return "in-progress";
    case "COMPLETED":
    case "PARTIAL":
      return "completed";
    case "INVALID":
    case "FAILED":
    case "CANCELLED":
    case "EXPIRED":
    case "SUPERSEDED":
      return "failed";
  }
}
