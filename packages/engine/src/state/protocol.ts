/**
 * The events and commands between `decide()` and the shell around it (the executor, the in-memory runner, the
 * simulation).
 *
 * Invariants of the protocol, cited by number where the code relies on them:
 * 1. The engine has no clock and no randomness: events carry both (`at` in Unix milliseconds, `random` in [0,
 *    1)).
 * 2. Nothing is a fact before it is durable: the engine asks for a change with `record`, and builds on it
 *    (starts dependents) only after the shell answered `recorded` for that key. There are two exceptions.
 *    Results of reads may be acknowledged early (R2): what builds on them becomes durable after them, or can
 *    be repeated with them. The end of the plan carries the last records, and the shell makes these and the
 *    end durable in that order.
 * 3. One unit (a step, an item or a batch of items) has at most one running call.
 * 4. The same plan, tools, records and events in the same order give the same commands.
 * 5. `finish` comes once, last, and only when every earlier record was acknowledged.
 */
import type {
  Classed,
  Condition,
  EffectClass,
  FinalPlanStatus,
  ForEachStep,
  HeldJson,
  JsonObject,
  JsonValue,
  OmittedOutput,
  OutputShape,
  OutputText,
  OutputTexts,
  Plan,
  Step,
  StepStatus,
  ToolContract,
  ToolDescriptor,
  WaitReason,
} from "@planwright/plan";

/** Outputs larger than this in total are not part of a plan's end. In bytes of JSON in UTF-8. */
export const MAX_END_BYTES = 262_144;

/** Largest output of a forEach, in bytes of JSON in UTF-8. */
export const MAX_LIST_BYTES = 67_108_864;

/** Why something failed: a code for programs and a message for people. */
export interface StepError {
  /** From {@link STEP_ERROR_CODES}, or a code that the tool itself reported. */
  code: string;
  message: string;
  /** True when the same call may succeed later. */
  retryable: boolean;
  data?: JsonValue | undefined;
}

/**
 * What the durable store knows about one unit. The key is the step id for a step and `stepId[index]` for an
 * item of a forEach. An item has a record once its list is expanded.
 */
export interface StepRecord extends Pick<Tries, "attempts">, Partial<Omit<Tries, "attempts">> {
  key: string;
  stepId: string;
  /** Position in the list, for an item of a forEach. */
  item?: number | undefined;
  status: StepStatus;
  /** Present when COMPLETED, except that it may be absent with `outputBytes`. */
  output?: HeldJson | undefined;
  /**
   * Size of the output as JSON in UTF-8, in bytes. Present when the store can return the output: then
   * `output` may be absent, and the engine asks for it with `load` when needed.
   */
  outputBytes?: number | undefined;
  /** The text of the output as the tool wrote it, when the tool returned JSON text. */
  outputText?: OutputText | undefined;
  /** Present when FAILED, IN_DOUBT, RETRYING; for SKIPPED and CANCELLED the reason. */
  error?: StepError | undefined;
  waitReason?: WaitReason | undefined;
  /** Unix milliseconds; present when RETRYING. */
  nextAttemptAt?: number | undefined;
  /** Warnings from resolving the arguments, sorted. */
  warnings?: string[] | undefined;
  /**
   * True from the first sent call until an answer settles it. Such a unit ends COMPLETED, FAILED by an answer
   * to its key, or IN_DOUBT, never otherwise. Only calls of tools with side effects can act.
   */
  mayHaveActed?: boolean | undefined;
  /**
   * On the record of a step: keys of its units whose call in an earlier version of the plan was never
   * answered. Such a unit "may have acted" as soon as this version calls it, because the call is sent under
   * the same key.
   */
  unanswered?: readonly string[] | undefined;
  /** Unix milliseconds; present when WAITING_APPROVAL: without a decision the step then fails. */
  expiresAt?: number | undefined;
  /** True once an operator approved the call; every later record of the unit keeps it. */
  approved?: boolean | undefined;
  /**
   * The unit of an earlier version whose call completed this one, from the beginning or because the shell answered
   * `carried`. It is never called again, not even as part of a batch: see `isCarried`.
   */
  carriedFrom?: { planId: string; key: string } | undefined;
  /**
   * Present when WAITING_APPROVAL: the arguments that will be sent. For a forEach the arguments of each call,
   * as `{calls: {"step[0]": {..}}}`. An approval is for a hash over these arguments, the plan, the step and
   * the tool.
   */
  arguments?: JsonObject | undefined;
  /** Instead of `arguments`, when they are large. */
  largeArguments?: LargeApprovable | undefined;
}

/** Longest beginning that is kept of large arguments, in characters. */
export const BEGINNING_CHARS = 1_024;

/** Large arguments that an operator approves. Another thread has resolved them: this is what is kept of them. */
interface LargeApprovable {
  /** SHA-256 of their canonical JSON. */
  digest: string;
  /** For a forEach: the digests of the arguments of each call, by its key. */
  calls: Record<string, string> | undefined;
  /** SHA-256 of their JSON text, in which exact numbers are marked. */
  argsHash: string;
  /** Size of their JSON text in UTF-8. */
  sizeBytes: number;
  /** The beginning of that text. */
  beginning: string;
}

/** How often the call of a unit was tried. */
export interface Tries {
  /**
   * Attempts started so far, from 0. Consecutive tries of a server that cannot be reached count as one
   * attempt.
   */
  attempts: number;
  /** Number of attempts that did not send the call: the server could not be reached, or they were look-ups. Absent: 0. */
  unsent: number;
  /** Present while the server cannot be reached, and when the unit FAILED because of it. */
  unreachable: Unreachable | undefined;
}

/** A server that could not be reached, as one unit saw it. */
export interface Unreachable {
  /** Time of the first failed try, in Unix milliseconds. */
  since: number;
  /** Number of tries since then, from 1. */
  tries: number;
}

/** One tool call that the shell has to make. */
export interface Call extends Classed<EffectClass> {
  /**
   * Stable over crashes and retries: `stepId`, `stepId[3]`, or for a batch `stepId[0..9]`. Idempotency keys
   * derive from it.
   */
  key: string;
  stepId: string;
  /** SHA-256 of the arguments of each item, in the order of `items`; absent for a call for one unit. */
  itemHashes?: readonly string[] | undefined;
  /** Items served by this call; absent for a plain step, several for a batch. */
  items?: readonly number[] | undefined;
  /** From 1. */
  attempt: number;
  tool: string;
  /** Resolved and validated; a retry sends byte-identical arguments. */
  arguments: JsonObject;
  /**
   * Present when the arguments refer to large outputs, or are those of many items: then `arguments` is empty,
   * and `itemHashes` is absent. The shell resolves them when it has memory for `bytes`, and until then answers
   * `deferred` with `memory`.
   */
  unresolved?: UnresolvedArguments | undefined;
  /**
   * True for a call that may have an effect: its tool has side effects, and the call is not a look-up. Its
   * intent is durable before it is sent (R2).
   */
  mayAct: boolean;
  /** What an error that the tool answers says about its effect, from its contract. Default: unknown. */
  errors?: "unknown" | "no-effect" | undefined;
  /** Timeout of the call, in milliseconds: see `callTimeout`. */
  timeoutMs: number;
  /**
   * True when the result of an earlier attempt of class V is unknown: ask the lookup tool instead of calling.
   * Answer `completed` with the step's output when the call happened. Answer `failed` with effect `none` when
   * it did not happen; the engine then calls again. Answer `failed` with another effect when that is unknown.
   * With a retryable error the look-up is repeated until the plan's deadline; otherwise the unit is IN_DOUBT.
   */
  verify?: boolean | undefined;
  /**
   * True for a call that asks for the result of an earlier one in a plan that is being cancelled or has
   * expired: the same call under the same key, or a look-up, within the grace period.
   */
  settles?: boolean | undefined;
  /**
   * Present when the step needed approval: the arguments that were to be approved, as in the record with
   * WAITING_APPROVAL. The shell compares them with what was approved. When anything has changed, it refuses
   * the call (`failed` with effect `none`).
   */
  approvable?: JsonObject | undefined;
  /** Instead of `approvable`, when they are large. `arguments`: they are those of this call. */
  largeApprovable?: LargeApprovable | "arguments" | undefined;
}

/** A call that an operator has not approved yet. */
export type CallToApprove = Pick<Call, "key" | "stepId" | "arguments" | "items" | "itemHashes"> & CallOfTool;

/** What a call has from its tool. */
export interface CallOfTool extends Classed<EffectClass>, Pick<Call, "tool" | "mayAct"> {}

/** A unit of an earlier version that made the same call. */
export interface CarriedUnit {
  planId: string;
  key: string;
  output?: JsonValue | undefined;
  /** As in the record. */
  outputBytes?: number | undefined;
}

/** What references are resolved from. */
export interface Sources {
  /** Size of the inserted outputs, as JSON in UTF-8, once for each reference, and of the outputs to be read. */
  bytes: number;
  policy: Plan["policy"];
  /** Outputs in memory by the names that references may use. */
  outputs: [name: string, output: HeldJson][];
  /** Outputs that the shell reads first: see `withStored`. */
  stored: { key: string; names: string[]; bytes: number }[];
  texts: [name: string, texts: OutputTexts][];
}

/** A call, or the calls of a list, whose arguments are to be resolved. Plain data, and texts of large items. */
export interface CallTemplate {
  step: Step;
  tool: {
    name: string;
    descriptor: ToolDescriptor | undefined;
    batch: ToolContract["batch"];
  };
  /** Ids of the steps whose outputs become missing arguments. */
  merged: string[];
  /** Fields of earlier outputs without which nothing is called. */
  required: RequiredFields[];
}

/** Fields that the contract of a tool requires of the outputs of another tool: of steps that are COMPLETED. */
export interface RequiredFields {
  tool: string;
  fields: readonly string[];
  of: { id: string; isList: boolean }[];
}

/** The units of one call. */
export interface CallUnits {
  units: readonly CallUnit[];
  /** The arguments of the units become one list, even when only one unit is left. */
  isBatch: boolean;
  /** The arguments of each unit are hashed. */
  hashesItems: boolean;
}

/** A unit of a call: with its item, for an item of a forEach. */
export interface CallUnit {
  key: string;
  item?: number | undefined;
  value?: HeldJson | undefined;
}

/** What the arguments of one call are resolved from: plain data, and texts of large outputs. */
export interface UnresolvedArguments extends Sources, CallTemplate, CallUnits {}

/**
 * What the engine needs to know of large outputs, which it does not read itself: plain data, and texts of large
 * outputs.
 */
export interface Question extends Sources {
  asks:
    | { type: "when"; when: Condition; statuses: [stepId: string, status: StepStatus][] }
    /** The items of a list, their keys, and which of them are not called. */
    | { type: "items"; step: ForEachStep; maxItems: number; statuses: [stepId: string, status: StepStatus][] }
    /** A part of the plan's outputs. @property room - see `GrowingOutputs` */
    | { type: "part"; name: string; part: JsonValue; room: number }
    | ({ type: "approval" } & ToApprove)
    /** What an answer says about the items of a batch; it is the output {@link ANSWER}. */
    | ({ type: "batch" } & BatchCall)
    /** The error of a step that completed although some of its items failed. */
    | ({ type: "shortfall" } & EndedList);
}

/** The name of a tool's answer among the sources of a question about it. */
export const ANSWER = "answer";

/** Result of one item of a batch. */
export type BatchResult =
  | { status: "COMPLETED"; output: HeldJson }
  | { status: "FAILED" | "IN_DOUBT"; error: StepError };

/** A tool that may take several items in one call. Plain data. */
export interface BatchTool {
  batch: ToolContract["batch"];
  /** It has no side effects. */
  onlyReads: boolean;
}

/** A call of a batch tool, for reading its answer. Plain data. */
export interface BatchCall extends BatchTool {
  stepId: string;
  /** Number of items that a list sent; undefined for a tool that the step calls directly. */
  count: number | undefined;
  /**
   * Several items were sent, or one in the planned batch parameter: their results may also be a list that is no
   * envelope.
   */
  isSplit: boolean;
}

/** What the answer of a batch tool says about its items. */
export interface ReadBatch {
  /** Number of items that it has a result for. */
  count: number;
  /** At least one item succeeded. */
  hasSuccess: boolean;
  /** For each item that a list sent, in this order. None for a tool that the step calls directly. */
  results: readonly BatchResult[];
  /** For such a tool: the error when items failed. */
  shortfall?: StepError | undefined;
}

/** A step that may be a list or a batch, and has ended. Plain data. */
export interface EndedList extends BatchTool {
  stepId: string;
  /** It is a forEach. */
  isList: boolean;
}

/** The calls of a step that an operator approves. */
export interface ToApprove extends CallTemplate {
  maxItems: number;
  /** Items of a forEach that are not called, because an earlier version of the plan finished them. */
  carried: number[];
  /** Of all steps, for the condition of the items. */
  statuses: [stepId: string, status: StepStatus][];
  /** Arguments whose text is longer are large. */
  largeBytes: number;
}

/** What an operator approves, or why the arguments cannot be resolved. */
export type Approvable =
  | { ok: true; value: JsonObject }
  | { ok: true; large: LargeApprovable }
  | { ok: false; error: StepError };

/** Why an item of a list is never called: its condition is false, or has no answer. */
export type NotCalled = { status: "SKIPPED" | "FAILED"; error: StepError };

/** The answer to a {@link Question}. */
export type Answer =
  | { type: "when"; result: { ok: true; holds: boolean } | { ok: false; error: StepError } }
  | {
      type: "items";
      result:
        | {
            ok: true;
            texts: string[];
            keys: string[];
            notCalled: [item: number, reason: NotCalled][];
            warnings: readonly string[];
          }
        | { ok: false; error: StepError };
    }
  /** `outputs` has the part; it is null when the part is larger than {@link MAX_END_BYTES}. */
  | { type: "part"; outputs: JsonObject | null; leftOut: OmittedOutput[]; room: number }
  | { type: "approval"; result: Approvable }
  /**
   * `read` is null when the answer says nothing about items. `texts`: for each item that a list sent its output as
   * JSON, null for those in `others`.
   */
  | {
      type: "batch";
      read:
        | (Omit<ReadBatch, "results"> & {
            texts: (string | null)[];
            others: [position: number, result: BatchResult][];
          })
        | null;
      /** Why the answer could not be read. */
      warning?: string | undefined;
    }
  | { type: "shortfall"; error: StepError | undefined };

/** How an attempt ended. */
export type Outcome =
  | CompletedOutcome
  | {
      type: "failed";
      error: StepError;
      /**
       * What is known about the effect. `none`: refused before it could happen (connection refused, unknown
       * tool, 429, 401). `reported`: the tool itself answered with an error. `unknown`: the answer was lost
       * (timeout, reset connection). With TOOL_UNREACHABLE, `none` means that nothing was sent: see {@link
       * isUnreachable}.
       */
      effect: "none" | "reported" | "unknown";
      /** Wait that the server asked for, in milliseconds. */
      retryAfterMs?: number | undefined;
      /** What a batch tool answered beside the error, when it is large: instead of the data of the error. */
      answer?: CompletedOutcome | undefined;
    }
  /** The call was stopped by `abort` and the tool confirmed it, or it was not sent. */
  | { type: "aborted" }
  /**
   * The call was not made, because earlier versions of the plan have made it for these units, which are
   * COMPLETED with the earlier outputs. The other units of a batch are called next. Does not count as an
   * attempt.
   */
  | { type: "carried"; units: ReadonlyMap<string, CarriedUnit> }
  /**
   * The call was not made: a limit outside the plan (Redis lease, rate limit, memory of the process) is
   * exhausted, or its server answers only after a person has signed in. Does not count as an attempt.
   */
  | { type: "deferred"; untilAt: number; waitReason: WaitReason };

/** A call was answered. */
interface CompletedOutcome {
  type: "completed";
  output: HeldJson;
  text?: OutputText | undefined;
  /** The shape of a large output. */
  shape?: OutputShape | undefined;
  /** What is odd about the answer; shown with the unit. */
  warnings?: readonly string[] | undefined;
  /** The answer to `questionAbout` a large output; null: it says nothing about items. */
  batch?: ReadBatch | null | undefined;
}

/** Input of {@link decide}: what happened. `at` is in Unix milliseconds of the shell's clock. */
export type EngineEvent =
  /** First event of a new or restored state. */
  | { type: "started"; at: number }
  /** @property random - uniform in [0, 1), for the jitter of a retry */
  | { type: "attempt.ended"; key: string; attempt: number; outcome: Outcome; at: number; random: number }
  /**
   * Units of a running call, by key, whose `unresolved` arguments are invalid. The call is made without them,
   * and its intent becomes durable after their records. When no unit is left, nothing is called, and the call
   * ends as `aborted`.
   */
  | { type: "refused"; key: string; attempt: number; units: ReadonlyMap<string, StepError>; at: number }
  /**
   * The requested records with these keys are durable.
   * @property sizes - sizes in bytes of the outputs that the store can return; other outputs stay in memory.
   *   Default: none
   * @property isEarly - the records are acknowledged early: they are not durable yet, and every later record
   *   becomes durable after them. Only for repeatable records. They are acknowledged again once they are
   *   durable; until then their outputs stay in memory. Default: false
   */
  | {
      type: "recorded";
      keys: readonly string[];
      sizes?: ReadonlyMap<string, number> | undefined;
      isEarly?: boolean | undefined;
      at: number;
    }
  /** The answer to `load`. */
  | { type: "loaded"; id: string; outputs: readonly StoredOutput[]; at: number }
  /** The answer to `ask`. */
  | { type: "answered"; id: string; answer: Answer; at: number }
  /**
   * Memory is short: drops outputs that the store has, least recently used first, until at most `toBytes` of
   * them are in memory.
   */
  | { type: "drop"; toBytes: number; at: number }
  /** The time of a `timer` command has come. Extra timers are harmless. */
  | { type: "timer"; at: number }
  /**
   * A limit outside the plan now has a slot for the call of this unit, or the process has memory for it, or a
   * person has signed in at its server, so after `deferred` it need not wait any longer. A `call` command in the
   * result of this `decide` uses the slot or the memory; without one it is not used. Ignored for a unit whose call
   * was not deferred.
   */
  | { type: "deferral.ended"; key: string; at: number }
  /** The plan is cancelled: nothing new starts, running calls get `abort`. */
  | { type: "cancel"; at: number; reason: string }
  /**
   * The plan's deadline has passed: like cancel, but the plan ends EXPIRED.
   * @property message - what used up the time. Default: only that it has passed
   */
  | { type: "deadline"; at: number; message?: string | undefined }
  | { type: "pause"; at: number }
  | { type: "resume"; at: number }
  | { type: "approval"; stepId: string; approved: boolean; reason?: string | undefined; at: number }
  /**
   * A step needs no approval, because each of its calls will be answered `carried`: its record with
   * WAITING_APPROVAL was not made durable. A call that is not carried then still needs an approval.
   */
  | { type: "approval.unneeded"; stepId: string; at: number }
  /** Settles an IN_DOUBT unit. `retry` makes it PENDING again. */
  | { type: "resolve"; key: string; resolution: Resolution; at: number };

/** An output that was read from the store. */
export interface StoredOutput {
  /** Key of the unit. */
  key: string;
  output: HeldJson;
  /**
   * The text as the tool wrote it, or for a forEach the texts of its items, where tools returned JSON text.
   */
  texts?: OutputTexts | undefined;
}

/** How an IN_DOUBT unit is settled. */
export type Resolution =
  | { type: "completed"; output: JsonValue }
  | { type: "failed"; error: StepError }
  | { type: "retry" };

/** What {@link decide} asks the shell to do. */
export type Command =
  /**
   * Make these changes durable, then answer `recorded` with their keys. Each record is the complete new state
   * of its unit.
   * @property isRepeatable - all of them are results of reads, which may be acknowledged early
   * @property toApprove - the calls of the steps that begin to wait for approval. When earlier versions of the
   *   plan have made all calls of such a step, its record may be left out and answered with `approval.unneeded`
   */
  | { type: "record"; records: StepRecord[]; isRepeatable: boolean; toApprove?: readonly CallToApprove[] }
  /**
   * Make the call, then answer `attempt.ended`. The shell makes the intent durable before the call unless it
   * is of class R (R2).
   */
  | { type: "call"; call: Call }
  /** Stop a running call; it still answers `attempt.ended`. */
  | { type: "abort"; key: string; reason: string }
  /**
   * Read these outputs, `bytes` in total, and answer `loaded` with the same `id`. Until then the plan neither
   * ends nor parks. Several `load` commands may be answered in any order.
   */
  | { type: "load"; id: string; keys: readonly string[]; bytes: number }
  /**
   * Find the answer with `answerQuestion`, in another thread, and answer `answered` with the same `id`. Until
   * then the plan neither ends nor parks.
   */
  | { type: "ask"; id: string; question: Question }
  /** Answer `timer` at this time; an earlier `timer` command stays valid. */
  | { type: "timer"; at: number }
  /**
   * Nothing runs and nothing can start: the plan is WAITING (or PAUSED) until the time or an event. The time is
   * that of the next call, or when the first approval expires.
   */
  | { type: "park"; status: "WAITING" | "PAUSED"; reason: WaitReason; until?: number | undefined }
  /**
   * The plan has ended. `outputs` has the requested outputs, by step id or by the name of the part. It is
   * null when they are larger than {@link MAX_END_BYTES} in total: then they are stored only with their
   * steps.
   */
  | {
      type: "finish";
      /** The last changes, on which only this end depends: make them durable before it or with it. */
      records: StepRecord[];
      status: FinalPlanStatus;
      outputs: JsonObject | null;
      error?: StepError | undefined;
    };

/** Codes of {@link StepError} from the engine and the executor. A tool may report other codes. */
export const STEP_ERROR_CODES = [
  "TOOL_FAILED", // the tool answered with isError
  "TOOL_TIMEOUT",
  "TOOL_UNREACHABLE", // connection refused or not made: nothing was sent
  "TOOL_CONNECTION_LOST", // the answer was lost; the effect is unknown
  "ANSWER_LOST", // the answer to an earlier attempt was lost, and no later attempt found out its result
  "TOOL_NOT_FOUND",
  "TOOL_UNAUTHORIZED",
  "TOOL_RATE_LIMITED",
  "TOOL_RESULT_INVALID", // its content cannot be an output
  "TOOL_RESULT_TOO_LARGE",
  "TOOL_CHANGED", // its digest differs from the one in the plan
  "REFERENCE_UNRESOLVED", // the referenced step has no output
  "REFERENCE_MISSING", // the referenced output has no such field
  "REFERENCES_TOO_LARGE", // the outputs that a step refers to are too large for one process
  "ARGUMENTS_INVALID", // they do not match the tool's input schema after references were resolved
  "CONTRACT_FIELD_MISSING", // the output of an earlier step lacks a field that the tool's contract requires
  "CONDITION_INVALID",
  "OUTPUT_UNRESOLVED", // of a plan: a part of its outputs refers to a missing value
  "ITEMS_INVALID", // forEach over a value that is not a list, too many items, or keys that are not unique
  "ITEMS_TOO_LARGE", // the results of a list are too large for one output; each item keeps its output
  "ITEMS_FAILED", // an item failed with errors: stop, or fewer called items than minSuccess succeeded
  "DEPENDENCY_FAILED", // reason of SKIPPED
  "CONDITION_FALSE", // reason of SKIPPED
  "PLAN_FAILED", // reason of SKIPPED under fail-fast
  "CANCELLED",
  "DEADLINE_EXCEEDED",
  "APPROVAL_REFUSED",
  "APPROVAL_EXPIRED", // neither approved nor refused in time: nothing was called
  "APPROVAL_STALE", // the arguments or the tool changed after the approval
  "SECRET_UNKNOWN", // the executor has no such secret
  "SECRET_FORBIDDEN", // the servers file does not allow this server to get it
  "ADDRESS_FORBIDDEN", // the address of its server must not be called
  "SETTLED_AS_FAILED", // an operator settled a call whose answer was lost
  "SETTLED_AS_NOT_DONE", // as above, after the plan had ended: a rerun can call it again
  "REPEAT_NOT_ACCEPTED", // the same call of an earlier version acted or may have acted
  "EXECUTOR_LOST", // the executor died during an attempt of class U
  "POISONED",
] as const;
export type StepErrorCode = (typeof STEP_ERROR_CODES)[number];
