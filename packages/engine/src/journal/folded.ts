/** What a journal says: the state of a request's plans after some of its entries. */
import type {
  EffectClass,
  JsonObject,
  JsonValue,
  OutputText,
  PlanStatus,
  StepStatus,
  WaitReason,
} from "@planwright/plan";
import type { Resolution } from "../state/protocol.ts";
import type { EventOf } from "./events.ts";

/** An error; without its data when the entries were read without their values. */
export type FoldedError = NonNullable<EventOf<"attempt.ended">["error"]>;

/** One try of a step or an item. Tries in a row that found the server away are one. */
export interface FoldedAttempt {
  /** From 1. */
  attempt: number;
  attemptId: string;
  /** Who made it. */
  worker: string;
  startedAt: Date;
  /** Null while it is under way; and until the next try, when its worker was lost. */
  endedAt: Date | null;
  /** By the worker's monotonic clock, in milliseconds. */
  durationMs: number | null;
  outcome: EventOf<"attempt.ended">["outcome"] | null;
  error: FoldedError | null;
  /** The entry that told its end. */
  endSeq: number | null;
  /** Nothing was sent: how often it was tried, from 1, and when the first of these tries had ended. */
  unsent?: { tries: number; since: Date };
}

/** A step, or an item of a list. */
export interface FoldedUnit {
  key: string;
  stepId: string;
  item?: number;
  status: StepStatus;
  attempts: FoldedAttempt[];
  /** Of the latest attempt; null before the first. */
  effectClass: EffectClass | null;
  /** Of the latest attempt, or those to be approved. */
  arguments: EventOf<"attempt.started">["arguments"] | null;
  /** The entry that holds them. */
  argumentsSeq: number | null;
  argsHash: string | null;
  approvalHash: string | null;
  /** Absent also when the entries were read without their values: `outputSeq` names the one that holds it. */
  output?: JsonValue;
  outputSeq: number | null;
  /** Size of an output that the journal holds, as JSON text in UTF-8, in bytes. */
  outputBytes?: number;
  outputRef?: EventOf<"step.changed">["outputRef"];
  outputText?: OutputText;
  error: FoldedError | null;
  /** The entry that told it. */
  errorSeq: number | null;
  warnings: string[];
  waitReason: WaitReason | null;
  nextAttemptAt: Date | null;
  mayHaveActed: boolean;
  approved: boolean;
  /** The version that executed it; null for one that is this version's own. */
  carriedFrom: string | null;
  /** Calls of it that earlier versions sent under a key, and that were not answered. */
  unanswered: EventOf<"plan.stored">["unanswered"];
  /** Who settled a doubt after the plan had ended, and how. */
  resolvedBy?: EventOf<"step.changed">["resolvedBy"];
  startedAt: Date | null;
  finishedAt: Date | null;
  /** The last entry that told something of it, and its time; 0 and null: none did. */
  seq: number;
  updatedAt: Date | null;
}

/** One version of the plan. */
export interface FoldedPlan {
  planId: string;
  version: number;
  status: PlanStatus;
  waitReason: WaitReason | null;
  /** When a plan that waits is to be looked at again; null: not before a control, or it does not wait. */
  dueAt: Date | null;
  /** By key. A unit of which nothing was told is not here: it is PENDING. */
  units: Map<string, FoldedUnit>;
  approvals: (Omit<EventOf<"approval.given">, "type"> & { by: string; at: Date })[];
  resolutions: { key: string; attempt: number; resolution: Resolution; by: string; at: Date }[];
  /** The entry of the latest control; 0: none yet. */
  controlSeq: number;
  cancelAskedAt: Date | null;
  /** Null when it is not to be paused, or not any more. */
  pauseAskedAt: Date | null;
  /** Null also when the entries were read without their values: `endedSeq` names the one that holds them. */
  outputs: JsonObject | null;
  error: FoldedError | null;
  queuedAt: Date | null;
  /** When a worker first took it. */
  startedAt: Date | null;
  finishedAt: Date | null;
  /** The entry that told its end; null while there is none. */
  endedSeq: number | null;
}

/** What model calls took, or may take. */
export type FoldedSpending = EventOf<"model.answered">["spent"];

/** Where the planning of a request stands. */
export interface FoldedPlanning {
  /** Who plans; null when no planner does. */
  planner: Omit<EventOf<"planning.began">, "type" | "from"> | null;
  /** The highest that any planner had; 0 before the first. */
  epoch: number;
  /** What a client asked for with a replan that has not ended; null: it asked for none. */
  replanAsked: Omit<EventOf<"replan.asked">, "type"> | null;
  /** A client has ended planning; what it was to make does not come. */
  isCancelled: boolean;
  /**
   * The plan that is being made is to be executed as soon as it is stored, whatever its request said when it
   * was accepted.
   */
  isExecutionPlanned: boolean;
  /** Ids of the questions that are open. */
  questions: readonly string[];
  /** By model calls that have ended. */
  spent: FoldedSpending;
  /** Reserved for model calls that have not ended, by their ids. */
  calls: ReadonlyMap<string, FoldedSpending>;
}

/** A request and its plans after the entries up to `seq`. */
export interface FoldedRequest {
  requestId: string;
  /** Of the last entry; 0 before the first. */
  seq: number;
  /** Time of the last entry; null before the first. */
  at: Date | null;
  /** Who executes its plan; null when no worker does. */
  owner: { worker: string; epoch: number } | null;
  /** The highest that any owner had; 0 before the first. */
  epoch: number;
  /** By planId, oldest version first. */
  plans: Map<string, FoldedPlan>;
  planning: FoldedPlanning;
}
