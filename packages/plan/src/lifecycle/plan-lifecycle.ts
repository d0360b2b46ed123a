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
} from "./lifecycle.ts";
import { WAIT_REASONS, type WaitReason } from "./wait-reason.ts";

/** A row of {@link PLAN_LIFECYCLE}. */
interface PlanFacts<Status extends string> extends StatusFacts<Status> {
  executionState: ExecutionState;
  /** True from when its execution was asked for until it is over: an executor may claim it, and hears of controls. */
  isStarted: boolean;
  /** Whether an executor has a lease on it. */
  isHeld: "no" | "maybe" | "yes";
  /** True when something of it failed, and another version could do better. */
  hasFailed: boolean;
}

/** What most rows of plans that are over have in common. */
const OVER = { moves: [], needs: "nothing", isStarted: false, isHeld: "no" } as const;

/** What the rows of started plans have in common. */
const STARTED = { executionState: "in-progress", isStarted: true, hasFailed: false } as const;

/** Where a plan may stand. */
export const PLAN_LIFECYCLE = {
  INVALID: { ...OVER, executionState: "failed", hasFailed: false },
  READY: {
    moves: ["QUEUED", "CANCELLED", "SUPERSEDED"],
    needs: "start",
    executionState: "pending",
    isStarted: false,
    isHeld: "no",
    hasFailed: false,
  },
  // CANCELLED follows where a client started the plan while another one ended it.
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
  // What it needs is said by its wait reason: see planNeed.
  WAITING: {
    ...STARTED,
    moves: ["RUNNING", "PAUSED", "CANCELLING"],
    needs: "nothing",
    isHeld: "no",
  },
  // An executor claims it for its deadline, for a cancel, and for operators' words: it may end by each of them.
  PAUSED: {
    ...STARTED,
    moves: ["QUEUED", "RUNNING", "CANCELLING", "COMPLETED", "PARTIAL", "FAILED", "CANCELLED", "EXPIRED"],
    needs: "resume",
    isHeld: "maybe",
  },
  // The calls under way may still complete it.
  CANCELLING: {
    ...STARTED,
    moves: ["COMPLETED", "PARTIAL", "FAILED", "CANCELLED", "EXPIRED"],
    needs: "worker",
    isHeld: "maybe",
  },
  COMPLETED: { ...OVER, executionState: "completed", hasFailed: false },
  // The requested outputs that could be had are there.
  PARTIAL: { ...OVER, executionState: "completed", hasFailed: true },
  FAILED: { ...OVER, executionState: "failed", hasFailed: true },
  CANCELLED: { ...OVER, executionState: "failed", hasFailed: false },
  EXPIRED: { ...OVER, executionState: "failed", hasFailed: false },
  SUPERSEDED: { ...OVER, executionState: "failed", hasFailed: false },
} as const satisfies Rows<string, PlanFacts<string>>;
export type PlanStatus = keyof typeof PLAN_LIFECYCLE;
export const PlanStatusSchema = z.enum(statusesOf(PLAN_LIFECYCLE));

/** Statuses of a plan that never change again. */
export type TerminalPlanStatus = TerminalStatus<typeof PLAN_LIFECYCLE>;
/** How a plan that ran can end. */
export type FinalPlanStatus = Extract<
  TerminalPlanStatus,
  (typeof PLAN_LIFECYCLE)["PAUSED" | "RUNNING"]["moves"][number]
>;

// A move to a status that has no row does not compile here.
const ROWS: Rows<PlanStatus, PlanFacts<PlanStatus>> = PLAN_LIFECYCLE;

/** Statuses of plans that are not over. */
export const UNFINISHED_PLAN_STATUSES = statusesWhere(ROWS, ({ moves }) => moves.length > 0);
/** Statuses of plans that were started and are not over: an executor may claim them. */
export const STARTED_PLAN_STATUSES = statusesWhere(ROWS, ({ isStarted }) => isStarted);
/** Statuses of plans that were not started yet. */
export const UNSTARTED_PLAN_STATUSES = statusesWhere(ROWS, ({ needs }) => needs === "start");
/** Statuses of started plans that no executor holds: the one that claims them has them RUNNING. */
export const UNHELD_PLAN_STATUSES = statusesWhere(
  ROWS,
  ({ isStarted, isHeld }) => isStarted && isHeld === "no",
);
/** Statuses of started plans for which no executor has anything to do now: they wait for a time, or for a person. */
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

/** True when something of a plan failed, and another version could do better. */
export function hasPlanFailed(status: PlanStatus): boolean {
  return ROWS[status].hasFailed;
}

/** True when the requested outputs of a plan are there, all or some. */
export function hasPlanResults(status: PlanStatus): boolean {
  return ROWS[status].executionState === "completed";
}

/** What has to come before a plan goes on. */
export function planNeed({
  status,
  waitReason,
}: {
  status: PlanStatus;
  waitReason: WaitReason | null;
}): Need {
  return status === "WAITING" && waitReason ? WAIT_REASONS[waitReason].needs : ROWS[status].needs;
}

/** The older clients' word for a plan's status. */
export function toExecutionState(status: PlanStatus): ExecutionState {
  return ROWS[status].executionState;
}
