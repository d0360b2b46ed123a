import { z } from "zod";
import {
  type ExecutionState,
  type Need,
  type Rows,
  type StatusFacts,
  statusesBefore,
  statusesOf,
  statusesWhere,
  type TerminalStatus,
  WAIT_REASONS,
  type WaitReason,
} from "./lifecycle.ts";

/** A row of {@link PLAN_LIFECYCLE}. */
interface PlanFacts<Status extends string> extends StatusFacts<Status> {
  executionState: ExecutionState;
  /**
   * True from the request for execution until the end: an executor may claim it and receives controls for it.
   */
  isStarted: boolean;
  /** Whether an executor has a lease on it. */
  isHeld: "no" | "maybe" | "yes";
  /** True when a part of it failed, so that another version could succeed. */
  hasFailed: boolean;
  /** True when all or some of the requested outputs are stored. */
  hasResults?: true;
}

/** Common fields of most rows of ended plans. */
const ENDED = { moves: [], needs: "nothing", isStarted: false, isHeld: "no" } as const;

/** Common fields of the rows of started plans. */
const STARTED = { executionState: "in-progress", isStarted: true, hasFailed: false } as const;

/** The statuses of a plan. */
export const PLAN_LIFECYCLE = {
  INVALID: { ...ENDED, executionState: "failed", hasFailed: false },
  READY: {
    moves: ["QUEUED", "CANCELLED", "SUPERSEDED"],
    needs: "start",
    executionState: "pending",
    isStarted: false,
    isHeld: "no",
    hasFailed: false,
  },
  // CANCELLED follows when one client starts the plan while another one cancels it.
  QUEUED: {
    ...STARTED,
    moves: ["RUNNING", "PAUSED", "CANCELLING", "CANCELLED"],
    needs: "worker",
    isHeld: "no",
  },
  RUNNING: {
    ...STARTED,
    moves: [
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
    needs: "worker",
    isHeld: "yes",
  },
  // Its wait reason says what it needs: see planNeed.
  WAITING: {
    ...STARTED,
    moves: ["RUNNING", "PAUSED", "CANCELLING"],
    needs: "nothing",
    isHeld: "no",
  },
  // An executor claims it when an approval expires, and for a cancel or an operator's decision: each of them may
  // end it.
  PAUSED: {
    ...STARTED,
    moves: ["QUEUED", "RUNNING", "CANCELLING", "COMPLETED", "PARTIAL", "FAILED", "CANCELLED", "EXPIRED"],
    needs: "resume",
    isHeld: "maybe",
  },
  // Running calls may still complete it.
  CANCELLING: {
    ...STARTED,
    moves: ["COMPLETED", "PARTIAL", "FAILED", "CANCELLED", "EXPIRED"],
    needs: "worker",
    isHeld: "maybe",
  },
  COMPLETED: { ...ENDED, executionState: "completed", hasFailed: false, hasResults: true },
  // Some of the requested outputs are stored. For older clients, which know no such status, it has failed.
  PARTIAL: { ...ENDED, executionState: "failed", hasFailed: true, hasResults: true },
  FAILED: { ...ENDED, executionState: "failed", hasFailed: true },
  CANCELLED: { ...ENDED, executionState: "failed", hasFailed: false },
  EXPIRED: { ...ENDED, executionState: "failed", hasFailed: false },
  SUPERSEDED: { ...ENDED, executionState: "failed", hasFailed: false },
} as const satisfies Rows<string, PlanFacts<string>>;
export type PlanStatus = keyof typeof PLAN_LIFECYCLE;
export const PlanStatusSchema = z.enum(statusesOf(PLAN_LIFECYCLE));

/** Statuses of a plan that never change again. */
export type TerminalPlanStatus = TerminalStatus<typeof PLAN_LIFECYCLE>;
/** The statuses with which an executed plan can end. */
export type FinalPlanStatus = Extract<
  TerminalPlanStatus,
  (typeof PLAN_LIFECYCLE)["PAUSED" | "RUNNING"]["moves"][number]
>;

// A transition to a status without a row does not compile.
const ROWS: Rows<PlanStatus, PlanFacts<PlanStatus>> = PLAN_LIFECYCLE;

/** Statuses of plans that have not ended. */
export const UNFINISHED_PLAN_STATUSES = statusesWhere(ROWS, ({ moves }) => moves.length > 0);
/** Statuses of plans that were started and have not ended: an executor may claim them. */
export const STARTED_PLAN_STATUSES = statusesWhere(ROWS, ({ isStarted }) => isStarted);
/** Statuses of plans that are not started yet. */
export const UNSTARTED_PLAN_STATUSES = statusesWhere(ROWS, ({ needs }) => needs === "start");
/** Statuses of started plans that no executor holds: a claim makes them RUNNING. */
export const UNHELD_PLAN_STATUSES = statusesWhere(
  ROWS,
  ({ isStarted, isHeld }) => isStarted && isHeld === "no",
);
/** Statuses of started plans without work for an executor now: they wait for a time or for a person. */
export const WAITING_PLAN_STATUSES = statusesWhere(
  ROWS,
  ({ isStarted, isHeld, needs }) => isStarted && isHeld !== "yes" && needs !== "worker",
);
/** Statuses from which a plan may be paused. */
export const PAUSABLE_PLAN_STATUSES = statusesBefore(ROWS, "PAUSED");

/** True when a plan can never change again. */
export function isTerminalPlanStatus(status: PlanStatus): status is TerminalPlanStatus {
  return ROWS[status].moves.length === 0;
}

/** True when no executor has a lease on a plan with this status. */
export function isUnheldPlanStatus(status: PlanStatus): boolean {
  return ROWS[status].isHeld === "no";
}

/** True when a part of a plan failed, so that another version could succeed. */
export function hasPlanFailed(status: PlanStatus): boolean {
  return ROWS[status].hasFailed;
}

/** True when all or some of the requested outputs of a plan are stored. */
export function hasPlanResults(status: PlanStatus): boolean {
  return ROWS[status].hasResults === true;
}

/** What must happen before a plan continues. */
export function planNeed({
  status,
  waitReason,
}: {
  status: PlanStatus;
  waitReason: WaitReason | null;
}): Need {
  return status === "WAITING" && waitReason ? WAIT_REASONS[waitReason].needs : ROWS[status].needs;
}

/** A plan's status for older clients. */
export function toExecutionState(status: PlanStatus): ExecutionState {
  return ROWS[status].executionState;
}
