import type { Command, ControlEvent, Resolution, StepError } from "@planwright/engine";
import type {
  Diagnostic,
  JsonValue,
  Plan,
  PlanId,
  PlanStatus,
  Priority,
  RequestId,
  StepStatus,
  ToolPin,
  WaitReason,
} from "@planwright/plan";
import type { Leased, PlanOrigin, TraceOrigin } from "./request-document.ts";

/** What happens after the end of a plan. */
export interface PlanFollowUp {
  /** Maximum number of automatic replans of the request. */
  maxReplans: number;
  /** Number of replans before this plan was stored. */
  replans: number;
  /** True when an answer in words is to be written. */
  answer: boolean;
}

/** An operator's decision on one step that needs approval. */
export interface PlanApproval {
  stepId: string;
  approved: boolean;
  /** Hash of the step as the operator saw it: only a call with this hash is approved. */
  approvalHash: string;
  /** A text for people; null without one. */
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

/** Maximum number of controls of a plan that wait for its owner, without a cancel: it always finds room. */
export const MAX_CONTROLS = 100;

/**
 * Most bytes of these controls as BSON, in which short numbers take several times their place in JSON: half of what
 * MongoDB allows for the whole document.
 */
export const MAX_CONTROL_BYTES = 8_388_608;

/** A unit that waits for a decision of an operator: for one about this call, or about this attempt. */
export type UndecidedUnit = { key: string } & ({ approvalHash: string } | { attempt: number });

/** Maximum number of units in {@link PlanDocument.undecided}. */
export const MAX_UNDECIDED = 100;

/** A control that a client or operator was answered, until it is in the journal of its request. */
export interface AskedControl {
  /** From 1, in the order in which they were asked. */
  id: number;
  event: ControlEvent;
  by: string;
  at: Date;
}

/** One immutable plan and its current state. */
export interface PlanDocument extends Leased {
  _id: PlanId;
  requestId: RequestId;
  tenant: string;
  version: number;
  /** The canonical plan; null when the submission could not be read as a plan (INVALID). */
  plan: Plan | null;
  /** The plan's tools as they were when it was made. Absent: no pins were stored. */
  toolPins?: ToolPin[];
  /** Raw text of the model's answer or of the submission, at most 1 MiB. */
  raw: string | null;
  origin: PlanOrigin;
  diagnostics: Diagnostic[];
  status: PlanStatus;
  /**
   * See {@link Leased}. QUEUED: time of the queueing; RUNNING: time when its owner was found dead; WAITING:
   * time when the wait may end, at the latest its deadline; WAITING for people and PAUSED: when that is too long.
   */
  dueAt: Date | null;
  /** Number of finished units at the last claim: when a later claim finds more, there is progress. */
  progressSeen: number;
  /** 1: the claim that found this progress, not among `claims`, took the plan from an owner. Absent: 0. */
  lostAtProgress?: 0 | 1;
  waitReason: WaitReason | null;
  /** Until its first claim the journal has no event of the plan and is not read: it was not started. */
  isFresh: boolean;
  /** What the plan needs from a person: for units that wait for approval or are in doubt. Absent: nothing yet. */
  needs?: ("approval" | "doubt")[];
  /**
   * Units that wait for a decision, at most {@link MAX_UNDECIDED}: a decision about one of them is accepted
   * without reading the journal. Decisions up to `controlSeq` are taken into account; later ones are in
   * `controls`, unless another executor has removed them. Only of a plan that is held or waits; absent: not
   * known.
   */
  undecided?: { controlSeq: number; units: UndecidedUnit[] };
  /** Time since when it has needed a person without a break. Null or absent: it needs none, or it is not known. */
  needsSince?: Date | null;
  /** When the first approval that it waits for expires; null: it waits for none. Absent: none yet, or not known. */
  approvalUntil?: Date | null;
  /** Steps and items that failed or were cancelled, and whose calls may have acted. Absent: none is known. */
  mayHaveActed?: number;
  /** Number of known items of its lists. Absent: none. */
  items?: number;
  /** Number of the latest control. 0: none yet. */
  controlSeq: number;
  /**
   * Controls that the owner puts into its next entry, oldest first, at most {@link MAX_CONTROLS} and about
   * {@link MAX_CONTROL_BYTES}.
   */
  controls?: AskedControl[];
  /**
   * Number of the latest decision of an operator about a call. Readers of approvals and resolutions need the
   * journal only if there is one. Absent in plans of earlier versions: any control may be one.
   */
  decisionSeq?: number;
  /** Time of the cancel control. */
  cancelRequestedAt: Date | null;
  /** Time of the pause control; null when the plan was resumed or never paused. */
  pauseRequestedAt: Date | null;
  /**
   * When it becomes EXPIRED, for a plan that an executor works on; null before its first claim. Each claim moves
   * it by the time in which only a person could continue the plan.
   */
  deadlineAt: Date | null;
  /** The plan's own time, in milliseconds from `startedAt`. Absent: the deadline was never moved. */
  timeoutMs?: number;
  /**
   * How long only a person could continue it, in milliseconds, after the end of the plan. Absent: it was claimed
   * once, so it never waited, or it ended before this was recorded.
   */
  waitedForPeopleMs?: number;
  /** Number of steps by status, after the end of the plan; before, they are counted from the journal. */
  counts: { [status in StepStatus]?: number } | null;
  outputs: { [stepId: string]: JsonValue } | null;
  error: StepError | null;
  /** That of its request. Absent: normal. */
  priority?: Priority;
  /** What happens after the end of this plan; fixed when it is stored. Absent: nothing. */
  followUp?: PlanFollowUp;
  /** The trace of its request. */
  trace?: TraceOrigin;
  /** Id of the last grouped write. */
  writeId: string | null;
  createdAt: Date;
  queuedAt: Date | null;
  startedAt: Date | null;
  finishedAt: Date | null;
  updatedAt: Date;
}

/** A version that has a plan. */
export type PlannedDocument = PlanDocument & { plan: Plan };

/** False for a version whose text could not be read. */
export function hasPlan(document: PlanDocument): document is PlannedDocument {
  return document.plan !== null;
}

/** The end of a plan, from the engine. */
export type FinishCommand = Omit<Extract<Command, { type: "finish" }>, "records">;

/** Refers to an output that is stored separately. */
export interface OutputRef {
  /** Id of the first document of the output. */
  id: string;
  /** Size as JSON text in UTF-8, in bytes. */
  sizeBytes: number;
  /** Number of documents of the output. */
  parts: number;
  /** The beginning of the text, at most 1 KiB. Absent: none was stored. */
  preview?: string | undefined;
  /** True when the tool wrote this text, false when we made it from the value. */
  isOwnText?: true | undefined;
}

/**
 * An output that is stored separately, or a part of one. `_id` is `{planId}/{key}@{epoch}`; further parts
 * have the suffixes `#1`, `#2` and so on. It is never changed.
 */
export interface OutputDocument {
  _id: string;
  tenant: string;
  planId: PlanId;
  /** Epoch of the owner that wrote it. */
  epoch: number;
  /** JSON text. */
  text: string;
}
