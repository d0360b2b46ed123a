/**
 * What the engine knows about a running plan. Invariants, in addition to those of the protocol:
 * 1. A step is in at most one heap at a time (`waitsIn`), and only while one of its callers may make a call.
 * 2. A unit has at most one record that is being stored (`unacknowledged`). Its `status` may already be the
 *    new one, but nothing depends on it before the record is acknowledged.
 * 3. `running`, `tool.running` and `step.active` count the calls between `call` and `attempt.ended`.
 * 4. For each tool, the ready heap holds the best waiting steps, as many as the tool has free slots (see
 *    `wakeTool`).
 */
import {
  type Classed,
  type EffectClass,
  type GrowingOutputs,
  type Heap,
  type HeldJson,
  type JsonObject,
  JsonText,
  type JsonValue,
  type OutputText,
  type OutputTexts,
  type Plan,
  type Step,
  type StepStatus,
  type ToolContract,
  type ToolDescriptor,
  type WaitReason,
} from "@planwright/plan";
import type {
  Answer,
  Approvable,
  CallOfTool,
  NotCalled,
  Resolution,
  StepError,
  StepRecord,
  Tries,
  UnresolvedArguments,
} from "./protocol.ts";

/** A step, or an item of a forEach: what has a status and a record. */
export interface Unit extends Tries {
  /** `stepId`, or `stepId[3]`. */
  readonly key: string;
  readonly step: StepNode;
  readonly item: number | undefined;
  /** Makes its calls; undefined for a forEach step, whose items are called instead. */
  caller: Caller | undefined;
  status: StepStatus;
  output: HeldJson | undefined;
  /** The text of the output as the tool wrote it, when the tool returned JSON text. */
  outputText: OutputText | undefined;
  /** Size of the output in bytes, once the store can return it. From then on `output` may be absent. */
  outputBytes: number | undefined;
  error: StepError | undefined;
  warnings: readonly string[];
  /** Unix milliseconds, when RETRYING. */
  nextAttemptAt: number | undefined;
  /** Unix milliseconds, when WAITING_APPROVAL. */
  expiresAt: number | undefined;
  /** As in the record: a call was sent and no answer has settled it. */
  mayHaveActed: boolean;
  /** An operator approved the call. */
  approved: boolean;
  /** See `isCarried`. */
  isCarried: boolean;
  unacknowledged: boolean;
  /** Its record was acknowledged early, before it is durable. */
  isEarly: boolean;
  /** An operator's decision that arrived before the unit's record was durable. */
  early: EarlyDecision | undefined;
}

/** An operator's decision on a unit whose record is not durable yet. */
export type EarlyDecision =
  | { type: "approval"; approved: boolean; reason: string | undefined }
  | { type: "resolve"; resolution: Resolution };

/** What makes calls, one at a time: a step, an item, or a batch of items. Its tries are those of its units. */
export interface Caller extends Tries {
  /** Key of its calls: `stepId`, `stepId[3]`, `stepId[0..9]`. */
  readonly key: string;
  readonly step: StepNode;
  /** Order among the callers of a step. */
  readonly position: number;
  readonly units: readonly Unit[];
  /** Number of its units whose records are being stored. */
  unacknowledged: number;
  /** Resolved once; a retry sends the same bytes. */
  prepared: Prepared | undefined;
  calling: boolean;
  /** It is in `callers` of its step. */
  offered: boolean;
  /** It is in `heldCalls` of the plan. */
  held: boolean;
  /** Until when it waits, and why. */
  waiting: { until: number; reason: WaitReason } | undefined;
}

/** Arguments ready to be sent. */
export interface Prepared {
  arguments: JsonObject;
  /** What the shell resolves the arguments from, when they are large; not kept with the caller. */
  unresolved?: UnresolvedArguments | undefined;
  /** The shell resolves them, for each attempt anew. */
  isByShell?: boolean | undefined;
  warnings: readonly string[];
  /** As in the call. */
  itemHashes: readonly string[] | undefined;
  /** The units whose arguments could be resolved; for a batch in the order of the list that is sent. */
  sent: readonly Unit[];
}

/** A step of the plan with everything that decides when it starts. */
export interface StepNode {
  readonly index: number;
  readonly step: Step;
  readonly tool: ToolSlot;
  readonly unit: Unit;
  readonly dependencies: StepNode[];
  readonly dependents: StepNode[];
  /** Steps whose outputs its condition, its items or its arguments refer to. */
  readonly reads: StepNode[];
  /**
   * Steps whose outputs are read to build the arguments of a call: once for each reference, for outputs that
   * are merged, and for fields that the contract requires.
   */
  readonly inserts: StepNode[];
  /** Number of unfinished readers of its output: steps, and one for each part of the plan's outputs. */
  readers: number;
  /** The plan returns its complete output. */
  isRequested: boolean;
  /** Longest remaining path; the step with the larger rank starts first. */
  readonly rank: number;
  /** Navigation that starts at once, regardless of the order in the plan. */
  readonly goesFirst: boolean;
  /**
   * Number of its dependencies that were ignored to break a cycle. Such a step starts only when nothing else
   * can run; then this becomes undefined.
   */
  opens: number | undefined;
  /** Number of dependencies that are not final yet. */
  unmet: number;
  /** True once its last state is durable and was applied to its dependents. */
  final: boolean;
  /** True once its condition was evaluated: this happens once. */
  admitted: boolean;
  /** Earlier versions of the plan have made all its calls: nothing is called, so it needs no approval. */
  isDoneBefore: boolean;
  /** True once it was checked after the failure of a dependency, and skipped if it could be. */
  skipChecked: boolean;
  /** As in the record. */
  readonly unanswered: ReadonlySet<string>;
  forEach: Items | undefined;
  /** What an operator approves or has approved; absent until it was resolved. */
  approvable: Approvable | undefined;
  /** Callers that may make a call now. */
  readonly callers: Heap<Caller>;
  active: number;
  /** Number of its callers in `heldCalls` of the plan. */
  heldCalls: number;
  concurrency: number;
  /** The heap that it is in. */
  waitsIn: "nowhere" | "ready" | "limit" | "barrier" | "opener" | "loading";
}

/** The items of an expanded forEach. */
export interface Items {
  /** The list; absent while the outputs that it refers to are not in memory. */
  values: readonly HeldJson[] | undefined;
  readonly keys: readonly string[];
  readonly units: readonly Unit[];
  /** Of the items that are called: an item that its condition excludes has none. */
  readonly callers: readonly Caller[];
  /** The items that are never called, and why. */
  readonly notCalled: ReadonlyMap<number, NotCalled>;
  /** The list has a condition for its items. */
  readonly hasCondition: boolean;
  /** Number of items whose terminal record is durable. */
  settled: number;
  ok: number;
  failed: number;
  /** Number of items that the condition of the list skipped. */
  skipped: number;
  inDoubt: number;
  /** Number of item records that are being stored. */
  unacknowledged: number;
  /**
   * After the first failed item no new item starts and the step fails. From `errors` in the plan, otherwise
   * from the contract of the tool.
   */
  readonly stopsAtFailure: boolean;
  /** True when it stops at failures and an item failed. */
  stopped: boolean;
}

/**
 * A step, or the plan's end, that waits for outputs, or for an answer to a question about them. Outputs that are
 * already in memory stay there until all of them are loaded.
 */
interface Loading {
  readonly node: StepNode | undefined;
  readonly units: readonly Unit[];
}

/** A tool with its concurrency limit inside this plan. */
export interface ToolSlot extends Classed<EffectClass> {
  readonly name: string;
  /** Undefined when the tool is not known. */
  readonly descriptor: ToolDescriptor | undefined;
  /**
   * Why the tool must not be called: its steps fail with this error when they would start. Undefined when it
   * may be called.
   */
  readonly refusal: StepError | undefined;
  readonly contract: ToolContract;
  /** True when `error_propagation` was declared and is not a default. */
  readonly declaresErrorPropagation: boolean;
  /** True for a tool without side effects, also by a `readOnlyHint` that is believed: it is never in doubt. */
  readonly onlyReads: boolean;
  readonly ofCall: CallOfTool;
  readonly limit: number;
  /** Number of steps in the plan that call it. */
  users: number;
  running: number;
  /** Ready steps that wait because the tool is at its limit. */
  readonly blocked: Heap<StepNode>;
}

/** Why nothing new starts. */
export type Stopping =
  | { type: "failed"; stepId: string }
  | { type: "cancelled"; reason: string }
  | { type: "expired"; message: string | undefined };

/** A caller that waits until a time. */
interface Wait {
  at: number;
  order: number;
  caller: Caller;
}

/** The barriers of a plan, and how many have ended. */
export interface Barriers {
  /** In barrier order: see `barrierOrder`. */
  readonly steps: readonly StepNode[];
  /** By step position: how many barriers come before the step. */
  readonly before: readonly number[];
  /** How many barriers are final, counted from the first. */
  ended: number;
  /** Steps that wait only for barriers, by the number of barriers before them. */
  readonly held: Map<number, StepNode[]>;
}

/** The state of one running plan. Opaque to shells: use `decide`, `unitViews` and `waitReasonOf`. */
export interface EngineState {
  readonly plan: Plan;
  /** Upper limit for a step's own timeout, in milliseconds. */
  readonly maxStepTimeoutMs: number;
  readonly steps: readonly StepNode[];
  readonly stepsById: ReadonlyMap<string, StepNode>;
  /** Every unit by key; items appear when their step expands. */
  readonly units: Map<string, Unit>;
  /** Outputs of steps whose completion is durable. */
  readonly outputs: HeldOutputs;
  /** The texts of those outputs that tools returned as JSON text. */
  readonly texts: Map<string, OutputTexts>;
  /**
   * Units whose outputs are in memory and can be dropped, with their sizes in bytes; least recently used
   * first.
   */
  readonly inMemory: Map<Unit, number>;
  inMemoryBytes: number;
  /** Waiters for outputs that were dropped: steps by id, and the plan's end as "". */
  readonly loading: Map<string, Loading>;
  /** Answers of the shell to the waiters, until they are used. */
  readonly answers: Map<string, Answer>;
  /** Upper limit for the total size of the outputs that one step refers to, in bytes. */
  readonly maxReadBytes: number;
  /** Calls that insert more bytes are resolved by the shell, and it reads larger outputs for the engine. */
  readonly largeBytes: number;
  /** Total size of the stored step outputs that the plan returns, in bytes. */
  requestedBytes: number;
  /** Used when the plan ends: the parts of its outputs that are already built. */
  parts: { resolved: GrowingOutputs; made: number; areLarge: boolean } | undefined;
  /** Statuses of final steps, for conditions. */
  readonly statuses: Map<string, StepStatus>;
  /** Records of items, kept until their step expands. */
  readonly itemRecords: Map<string, Map<number, StepRecord>>;
  readonly onlyReadOnlyTools: boolean;
  readonly ready: Heap<StepNode>;
  /** Which barriers have ended, and which steps wait for the others. */
  readonly barriers: Barriers;
  /** Ready barriers that wait because something is running. */
  readonly readyBarriers: Heap<StepNode>;
  /** Ready steps that break a cycle; they wait until nothing else can run. */
  readonly openers: Heap<StepNode>;
  readonly waits: Heap<Wait>;
  waitCounter: number;
  /** Earliest time for which a `timer` command was given. */
  timerAt: number | undefined;
  /** Running calls by key. */
  readonly calls: Map<string, Caller>;
  running: number;
  barrierRunning: boolean;
  unacknowledged: number;
  /** Number of steps that are not final. */
  left: number;
  /** Numbers of units that are IN_DOUBT and WAITING_APPROVAL: reasons why a plan waits. */
  inDoubt: number;
  awaitingApproval: number;
  /** When the next approval expires, in Unix milliseconds, or earlier. Undefined: none waits. */
  approvalsExpireAt: number | undefined;
  started: boolean;
  paused: boolean;
  /** Steps that became ready while paused. */
  held: StepNode[];
  /**
   * Calls whose result is unknown. They are repeated, or looked up, when there is a slot and the plan is not
   * paused.
   */
  heldCalls: Caller[];
  stopping: Stopping | undefined;
  /**
   * End of the grace period, in Unix milliseconds: until then a plan that is being ended asks for the results
   * of calls that may have acted.
   */
  graceEndsAt: number | undefined;
  /** The grace period has ended: calls that are not settled are in doubt. */
  isGraceOver: boolean;
  /** The step whose failure stopped the plan. */
  failedBy: string | undefined;
  /** A failure that stops the plan is being stored: nothing new starts meanwhile. */
  failing: boolean;
  /** The first failure that made the plan FAILED or PARTIAL. */
  firstFailure: Unit | undefined;
  /**
   * The first list that completed although some of its items failed. The error is undefined until the list's
   * output is read.
   */
  firstShortfall: { node: StepNode; error: StepError | undefined } | undefined;
  finished: boolean;
}

/**
 * Outputs by name. Large ones are held as texts: reading one as a value parses it, which blocks the process,
 * so calls that insert large outputs are resolved by the shell (`UnresolvedArguments`).
 */
export class HeldOutputs extends Map<string, JsonValue> {
  readonly #texts = new Map<string, JsonText>();

  /** Sets an output. */
  hold(name: string, output: HeldJson): void {
    this.delete(name);
    if (output instanceof JsonText) this.#texts.set(name, output);
    else this.set(name, output);
  }

  /** The output as it is held. */
  held(name: string): HeldJson | undefined {
    return this.#texts.get(name) ?? super.get(name);
  }

  override get(name: string): JsonValue | undefined {
    return this.#texts.get(name)?.value() ?? super.get(name);
  }

  override has(name: string): boolean {
    return this.#texts.has(name) || super.has(name);
  }

  override delete(name: string): boolean {
    const wasText = this.#texts.delete(name);
    return super.delete(name) || wasText;
  }
}
