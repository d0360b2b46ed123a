/** The state of a request and its plans after some entries of its journal. */
import {
  CodedError,
  type EffectClass,
  type JsonObject,
  type JsonValue,
  type OutputText,
  type PlanId,
  type PlanStatus,
  type RequestId,
  type StepStatus,
  type WaitReason,
} from "@planwright/plan";
import type { Effect } from "../state/effect.ts";
import type { Resolution } from "../state/protocol.ts";
import type { EventOf, JournalEntry } from "./events.ts";

/** An error; without its data when the entries were read without their values. */
export type FoldedError = NonNullable<EventOf<"attempt.ended">["error"]>;

/** One try of a step or an item. Consecutive tries that could not reach the server are one attempt. */
export interface FoldedAttempt {
  /** From 1. */
  attempt: number;
  attemptId: string;
  /** The executor that made it. */
  executor: string;
  startedAt: Date;
  /** Null while it runs, or, when its executor was lost, until the next attempt. */
  endedAt: Date | null;
  /** In milliseconds of the executor's monotonic clock. */
  durationMs: number | null;
  outcome: EventOf<"attempt.ended">["outcome"] | null;
  error: FoldedError | null;
  /** What is known about its effect; null for a call that cannot have one. */
  effect: Effect | null;
  /** By the tool's contract, what it reports as an error did not happen. Absent: that is not known. */
  errors?: "no-effect";
  /** The entry with its end. */
  endSeq: number | null;
  /** It asked the tool's look-up about an earlier call. */
  isLookup?: true;
  /**
   * Present when nothing was sent: the number of tries, from 1, and when the first of them ended. `isOver`: a doubt
   * was settled after them, so a further try is another attempt.
   */
  unsent?: { tries: number; since: Date; isOver?: true };
}

/** A wait of a plan that no executor held, or of a step for a person. */
export interface FoldedWait {
  reason: WaitReason;
  from: Date;
  /** Null while it lasts. */
  until: Date | null;
}

/**
 * A step of a plan, or an item of a list: all that is recorded about it. Its large values (arguments, output, data of
 * errors) are there with their sizes; the values themselves only when they were read.
 */
export interface StepRun {
  requestId: RequestId;
  tenant: string;
  planId: PlanId;
  /** Unique inside the plan: the step's id, with [index] for an item. */
  key: string;
  stepId: string;
  /** Its place in its list; null for a step. */
  item: number | null;
  /** Position of its step in the plan. */
  position: number;
  /** By its name in the plan. */
  tool: string;
  status: StepStatus;
  attempts: FoldedAttempt[];
  /** Of the latest attempt; null before the first. */
  effectClass: EffectClass | null;
  /** Of the latest attempt, or those to approve (for a list `{calls: {key: arguments}}`). */
  arguments: EventOf<"attempt.started">["arguments"] | null;
  /** The entry that holds them. */
  argumentsSeq: number | null;
  /** SHA-256 of the arguments as they are sent. */
  argsHash: string | null;
  /** SHA-256 of its own arguments, when its call served several items. */
  itemHash?: string | undefined;
  /** The idempotency key of its latest attempt, when it is not `{planId}/{key}`. */
  sentKey?: string | undefined;
  /** Hash of plan, step, arguments and tool that is to be approved, or was; null until it needs approval. */
  approvalHash: string | null;
  /** Also absent when the entries were read without their values: `outputSeq` is the entry that holds it. */
  output?: JsonValue;
  outputSeq: number | null;
  /** Size of an output that the journal holds, as JSON text in UTF-8, in bytes. */
  outputBytes?: number;
  outputRef?: EventOf<"step.changed">["outputRef"];
  outputText?: OutputText;
  error: FoldedError | null;
  /** The entry with the error. */
  errorSeq: number | null;
  warnings: string[];
  waitReason: WaitReason | null;
  nextAttemptAt: Date | null;
  /** When the approval that it waits for expires; null while it waits for none. */
  expiresAt: Date | null;
  /** True from the first sent call of a tool with side effects until an answer settles it. */
  mayHaveActed: boolean;
  /** What is known about the effects of its calls, also of those that it carries over; see `effectOfUnit`. */
  effect: Effect | null;
  /** An operator approved the call. */
  approved: boolean;
  /** The version that executed it; null when this version does. */
  carriedFrom: PlanId | null;
  /** Its key in that version. Absent: the same key. */
  carriedKey?: string;
  /** Calls of it that earlier versions sent under a key, and that may have acted; also answered ones. */
  unanswered: EventOf<"plan.stored">["unanswered"];
  /** Who settled the unit after the plan had ended, and how. */
  resolvedBy?: EventOf<"step.changed">["resolvedBy"];
  startedAt: Date | null;
  finishedAt: Date | null;
  /** Its waits for an approval or the decision about a doubt, oldest first. Absent: none. */
  waits?: readonly FoldedWait[];
  /** See `unitTime`: its own time, and what it waited for people, in milliseconds; null before its end. */
  durationMs: number | null;
  waitedForPeopleMs: number | null;
  /** The last entry about this unit, and its time; 0 and null: none. */
  seq: number;
  updatedAt: Date | null;
}

/** What the plan says of a step, and what follows from its events and from the plan. */
type Placed =
  | "requestId"
  | "tenant"
  | "planId"
  | "item"
  | "position"
  | "tool"
  | "effect"
  | "durationMs"
  | "waitedForPeopleMs";

/** The part of a {@link StepRun} that its events say: what a fold keeps of each unit. */
export type FoldedUnit = Omit<StepRun, Placed> & {
  /** Absent for a step. */
  item?: number;
  /** The tool of its latest attempt. */
  tool?: string;
};

/** One version of the plan. */
export interface FoldedPlan {
  planId: string;
  version: number;
  status: PlanStatus;
  waitReason: WaitReason | null;
  /** When a worker has to claim a waiting plan again; null: not before a control, or it does not wait. */
  dueAt: Date | null;
  /** Ids of steps that may repeat an effect of an earlier version. */
  accepted: readonly string[];
  /** By key. A unit without events is not in the map: it is PENDING. */
  units: Map<string, FoldedUnit>;
  approvals: (Omit<EventOf<"approval.given">, "type" | "asked"> & { by: string; at: Date })[];
  resolutions: { key: string; attempt: number; resolution: Resolution; by: string; at: Date }[];
  /** Number of the latest control (see {@link ControlEvent}); 0: none. */
  controlSeq: number;
  cancelAskedAt: Date | null;
  /** Null when no pause is requested, or the plan was resumed. */
  pauseAskedAt: Date | null;
  /** Also null when the entries were read without their values: `endedSeq` is the entry that holds them. */
  outputs: JsonObject | null;
  error: FoldedError | null;
  /** Its waits since its first claim while no executor held it, or a lost one did, oldest first: see `timeUse`. */
  waits: readonly FoldedWait[];
  queuedAt: Date | null;
  /** When a worker first claimed it. */
  startedAt: Date | null;
  finishedAt: Date | null;
  /** The entry with its end; null before the end. */
  endedSeq: number | null;
}

/** What model calls used, or may use. */
export type FoldedSpending = EventOf<"model.answered">["spent"];

/** The state of planning of a request. */
export interface FoldedPlanning {
  /** The planner that owns planning; null when none does. */
  planner: Omit<EventOf<"planning.began">, "type" | "from"> | null;
  /** The highest epoch of any planner; 0 before the first. */
  epoch: number;
  /** The replan that a client requested and that has not ended; null: none. */
  replanAsked: Omit<EventOf<"replan.asked">, "type"> | null;
  /** A client cancelled planning: no plan follows from it. */
  isCancelled: boolean;
  /**
   * When a client requested to execute the plan as soon as it is stored, regardless of the option in its accepted
   * request; null: no client did.
   */
  executionPlannedAt: Date | null;
  /** How long the model has been away; null: it answered the last call, or was not called. */
  away: Pick<EventOf<"planning.postponed">, "since" | "tries"> | null;
  /** Ids of the questions that are open. */
  questions: readonly string[];
  /** Used by model calls that have ended. */
  spent: FoldedSpending;
  /** Reserved for model calls that have not ended, by call id. */
  calls: ReadonlyMap<string, FoldedSpending>;
}

/** A request and its plans after the entries up to `seq`. */
export interface FoldedRequest {
  requestId: string;
  /** Seq of the last entry; 0 before the first. */
  seq: number;
  /** Time of the last entry; null before the first. */
  at: Date | null;
  /** The worker that owns the plan; null when none does. */
  owner: { worker: string; epoch: number } | null;
  /** The highest epoch of any owner; 0 before the first. */
  epoch: number;
  /** By planId, oldest version first. */
  plans: Map<string, FoldedPlan>;
  planning: FoldedPlanning;
  /** The request is being removed: no change follows. Absent: it is not. */
  isRemoved?: true;
}

/**
 * An entry cannot follow the entries before it: the journal was written against its rules, or was not read
 * completely.
 */
export class JournalInvalidError extends CodedError<{ requestId: string; seq: number; reason: string }> {
  readonly code = "JOURNAL_INVALID";
  readonly retryable = false;
  constructor(facts: { requestId: string; seq: number; reason: string }) {
    super(`Entry ${facts.seq} of ${facts.requestId} is invalid: ${facts.reason}`, facts);
  }
}

/** The entry that an event is part of, and the state that it changes. */
export interface FoldContext {
  /** A private copy: it may be changed. */
  request: FoldedRequest;
  entry: JournalEntry;
  /**
   * The plan version that the entry is about; it may be changed.
   * @throws {JournalInvalidError} when the version was not stored before
   */
  plan: () => FoldedPlan;
  invalid: (reason: string) => JournalInvalidError;
}
