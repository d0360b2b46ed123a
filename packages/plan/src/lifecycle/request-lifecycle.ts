import { z } from "zod";
import { type ExecutionState, type Rows, type StatusFacts, statusesOf, statusesWhere } from "./lifecycle.ts";

/** A row of {@link REQUEST_LIFECYCLE}. */
interface RequestFacts<Status extends string> extends StatusFacts<Status> {
  executionState: ExecutionState;
  /** True when nothing more happens by itself. No status is the last one: a client may ask for another version of the plan. */
  isOver: boolean;
  /** True when a step failed, or no plan came about. */
  hasFailed: boolean;
}

/** What the rows of requests that go on have in common. */
const GOES_ON = { isOver: false, hasFailed: false } as const;

/** What the rows of requests that are over have in common: a rerun starts them again, or leaves the new version to be started. */
const OVER = { needs: "nothing", isOver: true } as const;

/** Where a request may stand. */
export const REQUEST_LIFECYCLE = {
  // A replan that comes to nothing leaves the request as its plan has ended.
  PLANNING: {
    ...GOES_ON,
    moves: ["NEEDS_INPUT", "READY", "EXECUTING", "PARTIAL", "FAILED", "CANCELLED"],
    needs: "worker",
    executionState: "pending",
  },
  NEEDS_INPUT: { ...GOES_ON, moves: ["PLANNING"], needs: "answer", executionState: "pending" },
  // The plan's start is written beside the request's: a crash between them leaves the request READY until the plan is over.
  READY: {
    ...GOES_ON,
    moves: ["PLANNING", "EXECUTING", "COMPLETED", "PARTIAL", "FAILED", "CANCELLED"],
    needs: "start",
    executionState: "pending",
  },
  // PLANNING follows where the request may be planned anew without being asked.
  EXECUTING: {
    ...GOES_ON,
    moves: ["PLANNING", "COMPLETED", "PARTIAL", "FAILED", "CANCELLED"],
    needs: "worker",
    executionState: "in-progress",
  },
  COMPLETED: { ...OVER, moves: ["READY", "EXECUTING"], executionState: "completed", hasFailed: false },
  PARTIAL: {
    ...OVER,
    moves: ["PLANNING", "READY", "EXECUTING"],
    executionState: "completed",
    hasFailed: true,
  },
  FAILED: { ...OVER, moves: ["PLANNING", "READY", "EXECUTING"], executionState: "failed", hasFailed: true },
  CANCELLED: {
    ...OVER,
    moves: ["PLANNING", "READY", "EXECUTING"],
    executionState: "failed",
    hasFailed: false,
  },
} as const satisfies Rows<string, RequestFacts<string>>;
export type RequestStatus = keyof typeof REQUEST_LIFECYCLE;
export const RequestStatusSchema = z.enum(statusesOf(REQUEST_LIFECYCLE));

// A move to a status that has no row does not compile here.
const ROWS: Rows<RequestStatus, RequestFacts<RequestStatus>> = REQUEST_LIFECYCLE;

/** Statuses of requests to which nothing happens by itself any more. */
export const OVER_REQUEST_STATUSES = statusesWhere(ROWS, ({ isOver }) => isOver);
/** Statuses of requests that a planner or an executor takes further. */
export const WORKED_REQUEST_STATUSES = statusesWhere(ROWS, ({ needs }) => needs === "worker");
/** Statuses of requests of which a step failed, or no plan came about. */
export const FAILED_REQUEST_STATUSES = statusesWhere(ROWS, ({ hasFailed }) => hasFailed);
/** Statuses of requests whose plan may be under way. */
export const STARTED_REQUEST_STATUSES = statusesWhere(ROWS, ({ moves }) => moves.includes("COMPLETED"));

/** Statuses of requests of which nothing was executed: they are planned, ask, or were not started. */
export const UNEXECUTED_REQUEST_STATUSES = statusesWhere(ROWS, (row) => row.executionState === "pending");
/** Statuses of requests of which the requested outputs are there, all or some. */
export const REQUEST_STATUSES_WITH_RESULTS = statusesWhere(ROWS, (row) => row.executionState === "completed");

/** True when nothing more happens to a request by itself, but for an answer in words over its results. */
export function isRequestOver(status: RequestStatus): boolean {
  return ROWS[status].isOver;
}

/** The older clients' word for a request's status. */
export function executionStateOfRequest(status: RequestStatus): ExecutionState {
  return ROWS[status].executionState;
}
