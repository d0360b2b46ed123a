import { z } from "zod";
import {
  canMove,
  needsPerson,
  type Rows,
  type StatusFacts,
  statusesOf,
  type TerminalStatus,
} from "./lifecycle.ts";
import type { WaitReason } from "./wait-reason.ts";

/** A row of {@link STEP_LIFECYCLE}. */
interface StepFacts<Status extends string> extends StatusFacts<Status> {
  /** Why it waits, where the status alone says it. */
  waitReason: WaitReason | null;
  /** True while it has begun and is not over: a call is under way, or another one follows. */
  isUnderWay: boolean;
}

/** Where a step, or an item of a forEach, may stand. */
export const STEP_LIFECYCLE = {
  PENDING: {
    moves: ["RUNNING", "WAITING_APPROVAL", "SKIPPED", "FAILED", "IN_DOUBT", "CANCELLED"],
    needs: "worker",
    waitReason: null,
    isUnderWay: false,
  },
  WAITING_APPROVAL: {
    moves: ["PENDING", "FAILED", "SKIPPED", "CANCELLED"],
    needs: "approval",
    waitReason: "approval",
    isUnderWay: false,
  },
  RUNNING: {
    moves: ["COMPLETED", "FAILED", "IN_DOUBT", "RETRYING", "CANCELLED"],
    needs: "worker",
    waitReason: null,
    isUnderWay: true,
  },
  RETRYING: {
    moves: ["RUNNING", "FAILED", "IN_DOUBT", "CANCELLED"],
    needs: "worker",
    waitReason: "backoff",
    isUnderWay: true,
  },
  COMPLETED: { moves: [], needs: "nothing", waitReason: null, isUnderWay: false },
  FAILED: { moves: [], needs: "nothing", waitReason: null, isUnderWay: false },
  SKIPPED: { moves: [], needs: "nothing", waitReason: null, isUnderWay: false },
  // Also what may become of a plan that is over: an operator's word still settles it.
  IN_DOUBT: {
    moves: ["COMPLETED", "FAILED", "PENDING"],
    needs: "doubt",
    waitReason: "in doubt",
    isUnderWay: false,
  },
  CANCELLED: { moves: [], needs: "nothing", waitReason: null, isUnderWay: false },
} as const satisfies Rows<string, StepFacts<string>>;
export type StepStatus = keyof typeof STEP_LIFECYCLE;
export const StepStatusSchema = z.enum(statusesOf(STEP_LIFECYCLE));

/** Statuses of a step that never change again. */
export type TerminalStepStatus = TerminalStatus<typeof STEP_LIFECYCLE>;

// A move to a status that has no row does not compile here.
const ROWS: Rows<StepStatus, StepFacts<StepStatus>> = STEP_LIFECYCLE;

/** True when a step can never change again. IN_DOUBT is not terminal: an operator may still resolve it. */
export function isTerminalStepStatus(status: StepStatus): status is TerminalStepStatus {
  return ROWS[status].moves.length === 0;
}

/** True when the executor has nothing more to do for a step: it is over, or in doubt, which may outlast its plan. */
export function isSettledStepStatus(status: StepStatus): boolean {
  return isTerminalStepStatus(status) || ROWS[status].needs === "doubt";
}

/** True when a step's call may begin. */
export function isCallableStep(status: StepStatus): boolean {
  return canMove(ROWS, status, "RUNNING");
}

/** True when only a person's word lets a step go on. */
export function stepNeedsPerson(status: StepStatus): boolean {
  return needsPerson(ROWS[status].needs);
}

/** True when a step has begun and is not over: a call is under way, or another one follows. */
export function isStepUnderWay(status: StepStatus): boolean {
  return ROWS[status].isUnderWay;
}

/** True when a step goes on by itself, without a person's word. */
export function stepGoesOn(status: StepStatus): boolean {
  return ROWS[status].needs === "worker";
}

/** Why a step waits, where its status alone says it. */
export function waitReasonOfStep(status: StepStatus): WaitReason | undefined {
  return ROWS[status].waitReason ?? undefined;
}
