import { z } from "zod";
import { type ExecutionState, type Rows, type StatusFacts, statusesOf, statusesWhere } from "./lifecycle.ts";

/** A row of {@link REQUEST_LIFECYCLE}. */
interface RequestFacts<Status extends string> extends StatusFacts<Status> {
  executionState: ExecutionState;
  /**
   * True when nothing more happens without a client. No status is final: a client may request another version
   * of the plan.
   */
  hasEnded: boolean;
  /** True when a step failed or no plan could be made. */
  hasFailed: boolean;
  /** True when all or some of the requested outputs are stored. */
  hasResults?: true;
}

/** Common fields of the rows of active requests. */
const ACTIVE = { hasEnded: false, hasFailed: false } as const;

/**
 * Common fields of the rows of ended requests: a rerun starts them again, or a client starts the new version.
 */
const ENDED = { needs: "nothing", hasEnded: true } as const;

/** The statuses of a request. */
export const REQUEST_LIFECYCLE = {
  // A replan without a result leaves the request with the status of its ended plan.
  PLANNING: {
    ...ACTIVE,
    moves: ["NEEDS_INPUT", "READY", "EXECUTING", "PARTIAL", "FAILED", "CANCELLED"],
    needs: "worker",
    executionState: "pending",
  },
  NEEDS_INPUT: { ...ACTIVE, moves: ["PLANNING"], needs: "answer", executionState: "pending" },
  // The plan and the request are started by two writes: a crash between them leaves the request READY until
  // the plan has ended.
  READY: {
    ...ACTIVE,
    moves: ["PLANNING", "EXECUTING", "COMPLETED", "PARTIAL", "FAILED", "CANCELLED"],
    needs: "start",
    executionState: "pending",
  },
  // PLANNING follows when the request may be replanned automatically.
  EXECUTING: {
    ...ACTIVE,
    moves: ["PLANNING", "COMPLETED", "PARTIAL", "FAILED", "CANCELLED"],
    needs: "worker",
    executionState: "in-progress",
  },
  COMPLETED: {
    ...ENDED,
    moves: ["READY", "EXECUTING"],
    executionState: "completed",
    hasFailed: false,
    hasResults: true,
  },
  // Older clients know no such status: for them it has failed.
  PARTIAL: {
    ...ENDED,
    moves: ["PLANNING", "READY", "EXECUTING"],
    executionState: "failed",
    hasFailed: true,
    hasResults: true,
  },
  FAILED: { ...ENDED, moves: ["PLANNING", "READY", "EXECUTING"], executionState: "failed", hasFailed: true },
  CANCELLED: {
    ...ENDED,
    moves: ["PLANNING", "READY", "EXECUTING"],
    executionState: "failed",
    hasFailed: false,
  },
} as const satisfies Rows<string, RequestFacts<string>>;
export type RequestStatus = keyof typeof REQUEST_LIFECYCLE;
export const RequestStatusSchema = z.enum(statusesOf(REQUEST_LIFECYCLE));

// A transition to a status without a row does not compile.
const ROWS: Rows<RequestStatus, RequestFacts<RequestStatus>> = REQUEST_LIFECYCLE;

/** Statuses of requests to which nothing more happens without a client. */
export const ENDED_REQUEST_STATUSES = statusesWhere(ROWS, ({ hasEnded }) => hasEnded);
/** Statuses of requests on which a planner or an executor works. */
export const ACTIVE_REQUEST_STATUSES = statusesWhere(ROWS, ({ needs }) => needs === "worker");
/** Statuses of requests that a cancel can change. */
export const CANCELLABLE_REQUEST_STATUSES = statusesWhere(ROWS, ({ moves }) => moves.includes("CANCELLED"));
/** Statuses of requests in which a step failed, or for which no plan could be made. */
export const FAILED_REQUEST_STATUSES = statusesWhere(ROWS, ({ hasFailed }) => hasFailed);
/** Statuses of requests whose plan may be running. */
export const STARTED_REQUEST_STATUSES = statusesWhere(ROWS, ({ moves }) => moves.includes("COMPLETED"));

/**
 * Statuses of requests without any executed call: they are being planned, wait for answers, or are not
 * started.
 */
export const UNEXECUTED_REQUEST_STATUSES = statusesWhere(ROWS, (row) => row.executionState === "pending");
/** Statuses of requests with all or some of the requested outputs. */
export const REQUEST_STATUSES_WITH_RESULTS = statusesWhere(ROWS, (row) => row.hasResults === true);

/**
 * True when nothing more happens to a request without a client, except that the text of its results may still
 * be written.
 */
export function hasRequestEnded(status: RequestStatus): boolean {
  return ROWS[status].hasEnded;
}

/** A request's status for older clients. */
export function executionStateOfRequest(status: RequestStatus): ExecutionState {
  return ROWS[status].executionState;
}
