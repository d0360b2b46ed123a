import { z } from "zod";
import {
  canMove,
  needsPerson,
  type Rows,
  type StatusFacts,
  statusesOf,
  type TerminalStatus,
  type WaitReason,
} from "./lifecycle.ts";

/** A row of {@link STEP_LIFECYCLE}. */
interface StepFacts<Status extends string> extends StatusFacts<Status> {
  /** Why it waits, when the status alone defines that. */
  waitReason: WaitReason | null;
  /** True from its start to its end: a call is running, or another one follows. */
  isActive: boolean;
}

/** The statuses of a step, or of an item of a forEach. */
export const STEP_LIFECYCLE = {
  PENDING: {
    // COMPLETED: an earlier version has made the same call.
    moves: ["RUNNING", "WAITING_APPROVAL", "COMPLETED", "SKIPPED", "FAILED", "IN_DOUBT", "CANCELLED"],
    needs: "worker",
    waitReason: null,
    isActive: false,
  },
  WAITING_APPROVAL: {
    moves: ["PENDING", "FAILED", "SKIPPED", "CANCELLED"],
    needs: "approval",
    waitReason: "approval",
    isActive: false,
  },
  RUNNING: {
    moves: ["COMPLETED", "FAILED", "IN_DOUBT", "RETRYING", "CANCELLED"],
    needs: "worker",
    waitReason: null,
    isActive: true,
  },
  RETRYING: {
    moves: ["RUNNING", "FAILED", "IN_DOUBT", "CANCELLED"],
    needs: "worker",
    waitReason: "backoff",
    isActive: true,
  },
  COMPLETED: { moves: [], needs: "nothing", waitReason: null, isActive: false },
  FAILED: { moves: [], needs: "nothing", waitReason: null, isActive: false },
  SKIPPED: { moves: [], needs: "nothing", waitReason: null, isActive: false },
  // Also possible in an ended plan: an operator can still settle it.
  IN_DOUBT: {
    moves: ["COMPLETED", "FAILED", "PENDING"],
    needs: "doubt",
    waitReason: "in doubt",
    isActive: false,
  },
  CANCELLED: { moves: [], needs: "nothing", waitReason: null, isActive: false },
} as const satisfies Rows<string, StepFacts<string>>;
export type StepStatus = keyof typeof STEP_LIFECYCLE;
export const StepStatusSchema = z.enum(statusesOf(STEP_LIFECYCLE));

/** Statuses of a step that never change again. */
type TerminalStepStatus = TerminalStatus<typeof STEP_LIFECYCLE>;

// A transition to a status without a row does not compile.
const ROWS: Rows<StepStatus, StepFacts<StepStatus>> = STEP_LIFECYCLE;

/** True when a step can never change again. IN_DOUBT is not terminal: an operator may still resolve it. */
export function isTerminalStepStatus(status: StepStatus): status is TerminalStepStatus {
  return ROWS[status].moves.length === 0;
}

/**
 * True when the executor has nothing more to do for a step: it has ended, or is in doubt, possibly until
 * after the end of its plan.
 */
export function isSettledStepStatus(status: StepStatus): boolean {
  return isTerminalStepStatus(status) || ROWS[status].needs === "doubt";
}

/** True when a step's call may start. */
export function isCallableStep(status: StepStatus): boolean {
  return canMove(ROWS, status, "RUNNING");
}

/** True when only the decision of a person lets a step continue. */
export function stepNeedsPerson(status: StepStatus): boolean {
  return needsPerson(ROWS[status].needs);
}

/** True when a step has started and not ended: a call is running, or another one follows. */
export function isStepActive(status: StepStatus): boolean {
  return ROWS[status].isActive;
}

/** True when a step continues without a person. */
export function doesStepContinue(status: StepStatus): boolean {
  return ROWS[status].needs === "worker";
}

/** A step or item that knows which call of another version completed it. */
export interface MaybeCarried {
  /** Absent or null when this version executes it. */
  readonly carriedFrom?: string | object | null | undefined;
}

/** True for a step or item that an earlier version of the plan has completed: this version never calls it. */
export function isCarried({ carriedFrom }: MaybeCarried): boolean {
  return carriedFrom !== null && carriedFrom !== undefined;
}

/**
 * The version that called a step or item of this version: an earlier one for what was carried over. Pure.
 * @param planId - this version; null where only an earlier one is asked for
 */
export function calledIn<Version extends string | null>(
  planId: Version,
  { carriedFrom }: { readonly carriedFrom: string | null },
): string | Version {
  return carriedFrom ?? planId;
}

/** Why a step waits, when its status alone defines that. */
export function waitReasonOfStep(status: StepStatus): WaitReason | undefined {
  return ROWS[status].waitReason ?? undefined;
}
