import type { Resolution, StepError } from "@planwright/engine";
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

/** A call that may have happened, and is no second one under its key. */
export interface UnansweredCall {
  /** Of the step or item. */
  key: string;
  /** The plan in whose name it was sent. */
  planId: PlanId;
  /** SHA-256 of its arguments, as they were sent. */
  argsHash: string;
}

/** One try of a step. */
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
  /**
   * Nothing was sent, since the server could not be reached: all such tries in a row are one attempt. Absent:
   * the call was sent.
   */
  unsent?: {
    /** From 1. */
    tries: number;
    /** When the first of them ended. */
    since: Date;
  };
}

/** What is kept of arguments over 32 KiB, or that MongoDB would change. */
export interface ArgumentsPreview {
  /** As JSON text in UTF-8, in bytes. */
  sizeBytes: number;
  /** The beginning of the JSON text, at most 1 KiB. */
  text: string;
}

/**
 * One step, or one item of a forEach, of one plan, as the journal of its request tells it. `_id` is
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
  /** The entry of its request's journal that changed it last; 0 while none has. */
  seq: number;
  attempts: AttemptDocument[];
  effectClass: EffectClass | null;
  /**
   * Resolved arguments of the latest attempt, or those to be approved (of a forEach `{calls: {key:
   * arguments}}`); null for those that are too large to be kept.
   */
  arguments: JsonObject | null;
  /** What is kept of arguments that are too large. */
  argumentsPreview: ArgumentsPreview | null;
  /** SHA-256 of the arguments as they are sent. */
  argsHash: string | null;
  /** Null when it is stored separately. */
  output: JsonValue;
  outputRef: OutputRef | null;
  /**
   * How the tool wrote the output as JSON text; absent where it did not, or where that text is stored
   * separately.
   */
  outputText?: OutputText;
  error: StepError | null;
  warnings: string[];
  waitReason: WaitReason | null;
  /** True once an operator approved the call. */
  approved: boolean;
  /**
   * Hash of what is to be approved, or was: plan, step, resolved arguments, tool. Null until an approval has
   * to be asked for.
   */
  approvalHash: string | null;
  /**
   * The plan that executed it, for a unit that a new version carried over; null for one that is this plan's
   * own.
   */
  carriedFrom: PlanId | null;
  /**
   * Calls that earlier versions of the plan sent with an idempotency key and got no answer to, its items'
   * included: sent again with the same arguments they bear the same key. Absent: none.
   */
  unansweredCalls?: UnansweredCall[];
  /**
   * True from the first call of a tool with side effects that is sent until an answer settles it. Absent: it
   * was never sent.
   */
  mayHaveActed?: boolean;
  /**
   * Who settled a doubt after the plan had ended, or in the version that it was carried over from, and how.
   */
  resolvedBy?: { by: string; resolution: Resolution["type"] };
  nextAttemptAt: Date | null;
  startedAt: Date | null;
  finishedAt: Date | null;
  /** From the start of the first attempt to the end of the last, in milliseconds. */
  durationMs: number | null;
  updatedAt: Date;
}
