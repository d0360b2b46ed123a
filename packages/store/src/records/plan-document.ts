import type { Command, Resolution, StepError } from "@planwright/engine";
import type {
  Diagnostic,
  JsonValue,
  Plan,
  PlanId,
  PlanStatus,
  RequestId,
  StepStatus,
  ToolPin,
  WaitReason,
} from "@planwright/plan";
import type { Leased } from "./leased.ts";
import type { PlanOrigin } from "./plan-origin.ts";
import type { TraceOrigin } from "./request-document.ts";

/** What follows when a plan has ended. */
export interface PlanFollowUp {
  /** Replans that may follow a failure without being asked for. */
  maxReplans: number;
  /** Replans made when the plan was stored. */
  replans: number;
  /** Tell the results in words. */
  answer: boolean;
}

/** An operator's decision on one step that needs approval. */
export interface PlanApproval {
  stepId: string;
  approved: boolean;
  /** Of the step, as it was shown: only what it stands for may be called. */
  approvalHash: string;
  /** For people; null without one. */
  reason: string | null;
  by: string;
  at: Date;
}

/** An operator's decision on one unit in doubt, for exactly the attempt that is in doubt. */
export interface UnitResolution {
  key: string;
  attempt: number;
  resolution: Resolution;
  by: string;
  at: Date;
}

/** One immutable plan and its current state. */
export interface PlanDocument extends Leased {
  _id: PlanId;
  requestId: RequestId;
  tenant: string;
  version: number;
  /** The canonical plan; null when what was given could not be read as one (INVALID). */
  plan: Plan | null;
  /** The plan's tools as they were when it was made; absent for plans that were stored without. */
  toolPins?: ToolPin[];
  /** Raw text of the model's answer or of the submission, at most 1 MiB. */
  raw: string | null;
  origin: PlanOrigin;
  diagnostics: Diagnostic[];
  status: PlanStatus;
  /**
   * See {@link Leased}. QUEUED: when it was queued; RUNNING: when its owner was found dead; WAITING: when its
   * reason may be gone; WAITING for people and PAUSED: at its deadline.
   */
  dueAt: Date | null;
  /** Finished units at the last claim: a claim that finds more has seen progress. */
  progressSeen: number;
  waitReason: WaitReason | null;
  /**
   * True for a plan that was submitted to run at once, or not started yet: until its first claim nothing is
   * told of it, and nothing need be read.
   */
  isFresh: boolean;
  /** What people can do for it: for units that wait for approval, or are in doubt. Absent: nothing yet. */
  needs?: ("approval" | "doubt")[];
  /** Items of its lists, as far as they are known. Absent: none. */
  items?: number;
  /**
   * The entry of the latest control: by it the executor that holds the plan sees that there is something new.
   * 0: none yet.
   */
  controlSeq: number;
  /** The time of the control that said so, as the two below: what controls say stands in the journal. */
  cancelRequestedAt: Date | null;
  /** Set while the plan is to be paused. */
  pauseRequestedAt: Date | null;
  deadlineAt: Date | null;
  /** Steps by status, when the plan has ended; before that they are counted from the steps. */
  counts: { [status in StepStatus]?: number } | null;
  outputs: { [stepId: string]: JsonValue } | null;
  error: StepError | null;
  /** What the end of this plan leads to; fixed when it is stored. Absent: nothing. */
  followUp?: PlanFollowUp;
  /** That of its request. */
  trace?: TraceOrigin;
  /** Names the last grouped write. */
  writeId: string | null;
  createdAt: Date;
  queuedAt: Date | null;
  startedAt: Date | null;
  finishedAt: Date | null;
  updatedAt: Date;
}

/** How a plan ended, as the engine said it. */
export type FinishCommand = Omit<Extract<Command, { type: "finish" }>, "records">;
