import type { Effect, Resolution, StepError } from "@planwright/engine";
import type {
  EffectClass,
  JsonObject,
  JsonValue,
  OutputText,
  PlanId,
  RequestId,
  StepStatus,
  WaitReason,
} from "@planwright/plan";
import type { OutputRef } from "./output-document.ts";

/** A call with a key that may have acted. Sent again with the same key it does not act twice. */
export interface UnansweredCall {
  /** Key of the step or item. */
  key: string;
  /** The plan that sent it. */
  planId: PlanId;
  /** SHA-256 of its arguments as they were sent. */
  argsHash: string;
  /** It was answered by an error that leaves open whether it acted. Absent: it got no answer. */
  isAnswered?: true;
}

/** One attempt of a step. */
export interface AttemptDocument {
  attempt: number;
  attemptId: string;
  executor: string;
  startedAt: Date;
  endedAt: Date | null;
  /** Measured by the executor's monotonic clock, in milliseconds. */
  durationMs: number | null;
  outcome: "completed" | "failed" | "aborted" | "unknown" | null;
  error: StepError | null;
  /** What is known about its effect; null for a call that cannot have one. */
  effect: Effect | null;
  /**
   * The call was not sent, because the server could not be reached. All such tries in a row are one attempt.
   * Absent: the call was sent.
   */
  unsent?: {
    /** Number of tries, from 1. */
    tries: number;
    /** Time when the first try ended. */
    since: Date;
  };
}

/** Size and beginning of arguments over 32 KiB, or that MongoDB would change. */
export interface ArgumentsPreview {
  /** Size as JSON text in UTF-8, in bytes. */
  sizeBytes: number;
  /** The beginning of the JSON text, at most 1 KiB. */
  text: string;
}

/**
 * One step, or one item of a forEach, of one plan, folded from the journal of its request. `_id` is
 * `{planId}/{key}`.
 */
export interface StepDocument {
  _id: string;
  planId: PlanId;
  requestId: RequestId;
  tenant: string;
  key: string;
  stepId: string;
  item: number | null;
  /** Position in the plan. */
  position: number;
  tool: string;
  status: StepStatus;
  /** Seq of the entry that changed it last; 0 while none has. */
  seq: number;
  attempts: AttemptDocument[];
  effectClass: EffectClass | null;
  /**
   * Resolved arguments of the latest attempt, or those to be approved (for a forEach `{calls: {key:
   * arguments}}`); null for arguments that are too large.
   */
  arguments: JsonObject | null;
  /** Size and beginning of arguments that are too large. */
  argumentsPreview: ArgumentsPreview | null;
  /** SHA-256 of the arguments as they are sent. */
  argsHash: string | null;
  /** Null when the output is stored separately. */
  output: JsonValue;
  outputRef: OutputRef | null;
  /** The JSON text that the tool wrote. Absent: the tool wrote none, or the text is stored separately. */
  outputText?: OutputText;
  error: StepError | null;
  warnings: string[];
  waitReason: WaitReason | null;
  /** True once an operator approved the call. */
  approved: boolean;
  /**
   * Hash of plan, step, resolved arguments and tool that is to be approved, or was. Null until the step needs
   * approval.
   */
  approvalHash: string | null;
  /** For a unit that a new version carried over: the plan that executed it. Null for a unit of this plan. */
  carriedFrom: PlanId | null;
  /**
   * Calls that earlier versions of the plan sent with an idempotency key and that may have acted, also of its
   * items. They are sent again with the same key if the arguments are the same. Absent: none.
   */
  unansweredCalls?: UnansweredCall[];
  /**
   * True from the first sent call of a tool with side effects until an answer settles it. Absent: no call was
   * sent.
   */
  mayHaveActed?: boolean;
  /**
   * What is known about the effects of its calls in this version, and of those that it carries over; null when
   * none of them can have had one.
   */
  effect: Effect | null;
  /**
   * The operator that settled a doubt after the end of the plan, or in the version that the unit was carried
   * over from, and the decision.
   */
  resolvedBy?: { by: string; resolution: Resolution["type"] };
  nextAttemptAt: Date | null;
  /** When the approval that it waits for expires; null while it waits for none. */
  expiresAt: Date | null;
  startedAt: Date | null;
  finishedAt: Date | null;
  /** See `unitTime`: its own time, and what it waited for people, in milliseconds; null before its end. */
  durationMs: number | null;
  waitedForPeopleMs: number | null;
  updatedAt: Date;
}
