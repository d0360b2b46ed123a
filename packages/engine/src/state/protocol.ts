/**
 * The events and commands between `decide()` and the shell around it (the executor, the in-memory runner, the
 * simulation).
 *
 * Invariants of the protocol, cited by number where the code relies on them:
 * 1. The engine holds no clock and no randomness: both come in with events (`at` in Unix milliseconds,
 *    `random` in [0, 1)).
 * 2. Nothing becomes a fact before it is durable: the engine asks for a change with `record`, and builds on
 *    it (starts dependents) only after the shell answered `recorded` for that key. Two need no answer:
 *    results of reads, which may be told ahead (R2: what builds on them is durable behind them, or can be
 *    repeated with them), and the end of the plan, which carries the records that it follows from, so that
 *    the shell makes both durable in that order.
 * 3. One unit (a step, an item or a batch of items) has at most one call under way.
 * 4. Same plan, same tools, same records, same events in the same order give the same commands.
 * 5. `finish` comes once, last, and only when every record that was asked for before has been answered.
 */
import type {
  EffectClass,
  FinalPlanStatus,
  JsonObject,
  JsonValue,
  OutputText,
  OutputTexts,
  StepStatus,
  WaitReason,
} from "@planwright/plan";

/** Outputs larger than this, in bytes of JSON in UTF-8, are no part of a plan's end. */
export const MAX_END_BYTES = 262_144;

/** Largest output of a forEach, in bytes of JSON in UTF-8. */
export const MAX_LIST_BYTES = 67_108_864;

/** Why something failed: a code to decide by and a message for people. */
export interface StepError {
  /** From {@link STEP_ERROR_CODES}, or a code that the tool itself reported. */
  code: string;
  message: string;
  /** True when the same call may succeed later. */
  retryable: boolean;
  data?: JsonValue | undefined;
}

/**
 * What the durable store knows of one unit. The key is the step id for a step and `stepId[index]` for an item
 * of a forEach. Records of items exist only once something happened to them.
 */
export interface StepRecord {
  key: string;
  stepId: string;
  /** Position in the list, for an item of a forEach. */
  item?: number | undefined;
  status: StepStatus;
  /**
   * Attempts begun so far, from 0. A server that cannot be reached makes one attempt of all the tries in a
   * row.
   */
  attempts: number;
  /** Those of the attempts that sent nothing, since the server could not be reached; absent: none. */
  unsent?: number | undefined;
  /** Present while the server cannot be reached, and when the unit FAILED by that. */
  unreachable?: Unreachable | undefined;
  /** Present when COMPLETED, unless `outputBytes` says that the store has it. */
  output?: JsonValue | undefined;
  /**
   * Size of the output as JSON in UTF-8, in bytes: the store can return it. Then `output` may be absent, and
   * the engine asks for it with `load` when something needs it.
   */
  outputBytes?: number | undefined;
  /** How the tool wrote the output, where it gave JSON text. */
  outputText?: OutputText | undefined;
  /** Present when FAILED, IN_DOUBT, RETRYING; for SKIPPED and CANCELLED the reason. */
  error?: StepError | undefined;
  waitReason?: WaitReason | undefined;
  /** Unix milliseconds; present when RETRYING. */
  nextAttemptAt?: number | undefined;
  /** Sorted warnings gathered while arguments were resolved. */
  warnings?: string[] | undefined;
  /**
   * True from the first call that was sent until an answer settles its result: a unit like that ends
   * COMPLETED, FAILED by an answer to its key, or IN_DOUBT, and nothing else. Only calls of tools with side
   * effects can act.
   */
  mayHaveActed?: boolean | undefined;
  /**
   * On the record of a step: keys of those of its units whose call in an earlier version of the plan was
   * never answered. They may have acted as soon as this version calls them: the call goes out under the same
   * key.
   */
  unanswered?: readonly string[] | undefined;
  /** True once an operator approved the call; kept by every later record of the unit. */
  approved?: boolean | undefined;
  /**
   * True for a unit that finished in an earlier version of the plan: it is part of no call, not even of its
   * batch's.
   */
  carried?: boolean | undefined;
  /**
   * Present when WAITING_APPROVAL: the arguments as they will be sent; for a forEach those of each of its
   * calls, as `{calls: {"step[0]": {..}}}`. What is approved is a hash over these, the plan, the step and the
   * tool.
   */
  arguments?: JsonObject | undefined;
}

/** A server that could not be reached, by one unit that calls it. */
export interface Unreachable {
  /** When that was first seen, in Unix milliseconds. */
  since: number;
  /** How often it was tried since, from 1. */
  tries: number;
}

/** One call of a tool that the shell is asked to make. */
export interface Call {
  /**
   * Identity over crashes and retries: `stepId`, `stepId[3]`, or for a batch `stepId[0..9]`. Idempotency keys
   * derive from it.
   */
  key: string;
  stepId: string;
  /** Items served by this call; absent for a plain step, several for a batch. */
  items?: readonly number[] | undefined;
  /** From 1. */
  attempt: number;
  tool: string;
  /** Resolved and validated; a retry sends byte-identical arguments. */
  arguments: JsonObject;
  effectClass: EffectClass;
  /**
   * True for a call that may have an effect: its tool has side effects, and it is no look-up. Its intent is
   * durable before it is sent (R2).
   */
  mayAct: boolean;
  /** Longest that it may take, in milliseconds: see `callTimeout`. */
  timeoutMs: number;
  /**
   * True when this call follows an attempt of class V whose fate is unknown: ask the lookup tool instead of
   * calling. Answer `completed` with the step's output when it happened, `failed` with effect `none` when it
   * did not happen (the engine then calls again), and `failed` with another effect when that cannot be told:
   * with a retryable error the look-up gave no answer and is asked again, until the plan's deadline; with
   * another one the unit is IN_DOUBT.
   */
  verify?: boolean | undefined;
  /**
   * True for a call in a plan that is being cancelled or has expired, made to learn the result of an earlier
   * one: the same call under the same key, or a look-up, within the grace.
   */
  settles?: boolean | undefined;
  /**
   * Present when the step needed approval: what was to be approved, as in the record of that time. The shell
   * compares it with what was approved, and refuses the call (`failed` with effect `none`) when anything has
   * changed since.
   */
  approvable?: JsonObject | undefined;
}

/** How an attempt ended. */
export type Outcome =
  | { type: "completed"; output: JsonValue; text?: OutputText | undefined }
  | {
      type: "failed";
      error: StepError;
      /**
       * What is known of the effect. `none`: refused before it could happen (connection refused, unknown
       * tool, 429, 401). `reported`: the tool itself answered with an error. `unknown`: the answer was lost
       * (timeout, reset connection). With TOOL_UNREACHABLE `none` says that nothing was sent: see
       * {@link isUnreachable}.
       */
      effect: "none" | "reported" | "unknown";
      /** Wait asked for by the server, in milliseconds. */
      retryAfterMs?: number | undefined;
    }
  /** The call was stopped on our request and the tool confirmed it, or it had not been sent. */
  | { type: "aborted" }
  /**
   * The call was not made: a limit outside the plan (Redis lease, rate limit) is exhausted. Counts as no
   * attempt.
   */
  | { type: "deferred"; untilAt: number; waitReason: WaitReason };

/** What happened, told to {@link decide}. `at` is Unix milliseconds of the shell's clock. */
export type EngineEvent =
  /** First event of a state, also after a crash; the state was built from the durable records. */
  | { type: "started"; at: number }
  /** @property random - uniform in [0, 1), for the jitter of a retry */
  | { type: "attempt.ended"; key: string; attempt: number; outcome: Outcome; at: number; random: number }
  /**
   * The records asked for under these keys are durable.
   * @property sizes - bytes of those of their outputs that can be read from the store; the others stay in
   *   memory. Default: none can
   * @property isAhead - they are on their way, and all that is asked for from now on becomes durable behind
   *   them: for repeatable records alone. They are answered again once they are durable, and until then their
   *   outputs stay in memory. Default: they are durable
   */
  | {
      type: "recorded";
      keys: readonly string[];
      sizes?: ReadonlyMap<string, number> | undefined;
      isAhead?: boolean | undefined;
      at: number;
    }
  /** The answer to `load`. */
  | { type: "loaded"; id: string; outputs: readonly StoredOutput[]; at: number }
  /**
   * Memory is short: outputs that the store has are dropped, those used longest ago first, until at most
   * `toBytes` of them are held.
   */
  | { type: "drop"; toBytes: number; at: number }
  /** A time asked for by a `timer` command has come. Extra timers do no harm. */
  | { type: "timer"; at: number }
  /**
   * A limit outside the plan has a slot for the call of this unit now: after `deferred` it need not wait for
   * its time. The slot is used by a `call` command in the answer, or not at all. Changes nothing for a unit
   * that waits for no limit.
   */
  | { type: "limit.cleared"; key: string; at: number }
  /** Someone wants the plan ended: nothing new starts, running calls get `abort`. */
  | { type: "cancel"; at: number; reason: string }
  /** The plan's deadline has passed: as cancel, but the plan ends EXPIRED. */
  | { type: "deadline"; at: number }
  | { type: "pause"; at: number }
  | { type: "resume"; at: number }
  | { type: "approval"; stepId: string; approved: boolean; reason?: string | undefined; at: number }
  /** An operator, or a verification, settles an IN_DOUBT unit. `retry` makes it PENDING again. */
  | { type: "resolve"; key: string; resolution: Resolution; at: number };

/** An output as the store gives it back. */
export interface StoredOutput {
  /** Of the unit. */
  key: string;
  output: JsonValue;
  /** How tools wrote it, or for a forEach the data of its items, where they gave JSON text. */
  texts?: OutputTexts | undefined;
}

/** How an IN_DOUBT unit is settled. */
export type Resolution =
  | { type: "completed"; output: JsonValue }
  | { type: "failed"; error: StepError }
  | { type: "retry" };

/** What {@link decide} asks the shell to do, in this order. */
export type Command =
  /**
   * Make these changes durable, then answer `recorded` with their keys. Each record is the whole new state of
   * its unit.
   * @property isRepeatable - all of them are results of reads, which may be answered ahead
   */
  | { type: "record"; records: StepRecord[]; isRepeatable: boolean }
  /**
   * Make the call, then answer `attempt.ended`. Intents (R2) are the shell's: durable before the call unless
   * class R.
   */
  | { type: "call"; call: Call }
  /** Stop a call under way; it still answers `attempt.ended`. */
  | { type: "abort"; key: string; reason: string }
  /**
   * Read these outputs, `bytes` in all, and answer `loaded` with the same `id`. Until then the plan is not
   * over and does not park. In what order several are answered does not matter.
   */
  | { type: "load"; id: string; keys: readonly string[]; bytes: number }
  /** Answer `timer` at this time; an earlier `timer` command stays valid. */
  | { type: "timer"; at: number }
  /**
   * Nothing is under way and nothing can start: the plan is WAITING (or PAUSED) until the time or an event.
   */
  | { type: "park"; status: "WAITING" | "PAUSED"; reason: WaitReason; until?: number | undefined }
  /**
   * The plan has ended; the requested outputs, by step id or by the name of the part. Null when they are
   * known to be larger than {@link MAX_END_BYTES} together: they stand with their steps.
   */
  | {
      type: "finish";
      /**
       * The last changes, which nothing but this end follows from: make them durable before it, or with it.
       */
      records: StepRecord[];
      status: FinalPlanStatus;
      outputs: JsonObject | null;
      error?: StepError | undefined;
    };

/**
 * Codes of {@link StepError} that the engine and the executor give; a tool may report its own beside these.
 */
export const STEP_ERROR_CODES = [
  "TOOL_FAILED", // the tool answered with isError
  "TOOL_TIMEOUT",
  "TOOL_UNREACHABLE", // refused or no connection: nothing happened
  "TOOL_CONNECTION_LOST", // the answer was lost: the effect is unknown
  "ANSWER_LOST", // the answer to an earlier attempt was lost, and no later one could tell its result
  "TOOL_NOT_FOUND",
  "TOOL_UNAUTHORIZED",
  "TOOL_RATE_LIMITED",
  "TOOL_RESULT_INVALID", // content that cannot be an output
  "TOOL_RESULT_TOO_LARGE",
  "TOOL_CHANGED", // its digest differs from the one in the plan
  "REFERENCE_UNRESOLVED", // the step referred to gave no output
  "REFERENCE_MISSING", // its output has no such field
  "REFERENCES_TOO_LARGE", // the outputs that a step refers to are more than one process may hold
  "ARGUMENTS_INVALID", // against the tool's input schema, after resolving
  "CONDITION_INVALID",
  "OUTPUT_UNRESOLVED", // of a plan: an output that is made of parts refers to what is not there
  "ITEMS_INVALID", // forEach over something that is not a list, too many, or keys not unique
  "ITEMS_TOO_LARGE", // the results of a list are too large for one output; each item keeps its own
  "ITEMS_FAILED", // errors: stop, or fewer successes than minSuccess
  "DEPENDENCY_FAILED", // reason of SKIPPED
  "CONDITION_FALSE", // reason of SKIPPED
  "PLAN_FAILED", // reason of SKIPPED under fail-fast
  "CANCELLED",
  "DEADLINE_EXCEEDED",
  "APPROVAL_REFUSED",
  "APPROVAL_STALE", // what would be sent, or the tool, is no longer what was approved
  "SECRET_UNKNOWN", // the executor has no such secret
  "SECRET_FORBIDDEN", // the servers file does not let this server have it
  "ADDRESS_FORBIDDEN", // its server is at an address that is not to be reached
  "SETTLED_AS_FAILED", // an operator said so of a call whose answer was lost
  "SETTLED_AS_NOT_DONE", // as above, after the plan had ended: it can be called again by a rerun
  "EXECUTOR_LOST", // a class U attempt was under way when its executor died
  "POISONED",
] as const;
export type StepErrorCode = (typeof STEP_ERROR_CODES)[number];
