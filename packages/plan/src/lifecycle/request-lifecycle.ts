import { z } from "zod";
import { type ExecutionState, type Rows, type StatusFacts, statusesOf, statusesWhere } from "./lifecycle.ts";

/** A row of {@link REQUEST_LIFECYCLE}. */
interface RequestFacts<Status extends string> extends StatusFacts<Status> {
  executionState: ExecutionState;
  /**
   * True when nothing more happens without a client. No status is final: a client may ask for another version
   * of the plan.
   */
  hasEnded: boolean;
  /** True when a step failed or no plan could be made. */
  hasFailed: boolean;
}

/** What the rows of requests with work under way have in common. */
const GOES_ON = { hasEnded: false, hasFailed: false } as const;

/**
 * What the rows of ended requests have in common: a rerun starts them again, or leaves the new version for a
 * client to start.
 */
const OVER = { needs: "nothing", hasEnded: true } as const;

/** The statuses of a request. */
export const REQUEST_LIFECYCLE = {
  // A replan without a result leaves the request with the status of its ended plan.
  PLANNING: {
    ...GOES_ON,
    moves: ["NEEDS_INPUT", "READY", "EXECUTING", "PARTIAL", "FAILED", "CANCELLED"],
    needs: "worker",
    executionState: "pending",
  },
  NEEDS_INPUT: { ...GOES_ON, moves: ["PLANNING"], needs: "answer", executionState: "pending" },
  // The start of the plan and that of the request are two writes: a crash between them leaves the request
  // READY until the plan has ended.
  READY: {
    ...GOES_ON,
    moves: ["PLANNING", "EXECUTING", "COMPLETED", "PARTIAL", "FAILED", "CANCELLED"],
    needs: "start",
    executionState: "pending",
  },
  // PLANNING follows where the request may be replanned automatically.
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

/** Statuses of requests to which nothing more happens without a client. */
export const ENDED_REQUEST_STATUSES = statusesWhere(ROWS, ({ hasEnded }) => hasEnded);
/** Statuses of requests on which a planner or an executor works. */
export const ACTIVE_REQUEST_STATUSES = statusesWhere(ROWS, ({ needs }) => needs === "worker");
/** Statuses of requests that a cancel can change. */
export const CANCELLABLE_REQUEST_STATUSES = statusesWhere(ROWS, ({ moves }) => moves.includes("CANCELLED"));
/** Statuses of requests in which a step failed, or for which no plan could be made. */
export const FAILED_REQUEST_STATUSES = statusesWhere(ROWS, ({ hasFailed }) => hasFailed);
/** Statuses of requests whose plan may be under way. */
export const STARTED_REQUEST_STATUSES = statusesWhere(ROWS, ({ moves }) => moves.includes("COMPLETED"));

/**
 * Statuses of requests of which nothing was executed: they are being planned, wait for answers, or were not
 * started.
 */
export const UNEXECUTED_REQUEST_STATUSES = statusesWhere(ROWS, (row) => row.executionState === "pending");
/** Statuses of requests with all or some of the requested outputs. */
export const REQUEST_STATUSES_WITH_RESULTS = statusesWhere(ROWS, (row) => row.executionState === "completed");

/**
 * True when nothing more happens to a request without a client, except that its results may be summed up in
 * words.
 */
export function hasRequestEnded(status: RequestStatus): boolean {
  return ROWS[status].hasEnded;
}

/** A request's status as older clients read it. */
export function executionStateOfRequest(status: RequestStatus): ExecutionState {
  return ROWS[status].executionState;
}
