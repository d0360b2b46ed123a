/**
 * What the engine knows of a running plan. Invariants, beside those of the protocol:
 * 1. A step is in at most one heap at a time (`waitsIn`), and only while one of its callers could be called.
 * 2. A unit has at most one record on its way (`unacknowledged`); its `status` may already be the new one,
 *    but nothing builds on it before the answer.
 * 3. `running`, `tool.running` and `step.active` count the calls between `call` and `attempt.ended`.
 * 4. For each tool, the ready heap holds the best waiting steps, as many as the tool has free slots (see
 *    `wakeTool`).
 */
import type {
  EffectClass,
  GrowingOutputs,
  JsonObject,
  JsonValue,
  OutputText,
  OutputTexts,
  Plan,
  Step,
  StepStatus,
  ToolContract,
  ToolDescriptor,
  WaitReason,
} from "@planwright/plan";
import type { Heap } from "../order/heap.ts";
import type { Resolution, StepError, StepRecord, Unreachable } from "./protocol.ts";

/** A step, or an item of a forEach: what has a status and a record. */
export interface Unit {
  /** `stepId`, or `stepId[3]`. */
  readonly key: string;
  readonly step: StepNode;
  readonly item: number | undefined;
  /** Who calls for it; a forEach step itself calls nothing. */
  caller: Caller | undefined;
  status: StepStatus;
  /** Attempts begun, from 0. */
  attempts: number;
  /** Those of them that sent nothing. */
  unsent: number;
  /** The server cannot be reached, as far as the last attempt showed. */
  unreachable: Unreachable | undefined;
  output: JsonValue | undefined;
  /** How the tool wrote the output, where it gave JSON text. */
  outputText: OutputText | undefined;
  /** Bytes of the output, once the store can return it: from then on `output` may be absent. */
  outputBytes: number | undefined;
  error: StepError | undefined;
  warnings: readonly string[];
  /** Unix milliseconds, when RETRYING. */
  nextAttemptAt: number | undefined;
  /** As in its record: a call was sent and no answer has settled it. */
  mayHaveActed: boolean;
  /** An operator approved the call. */
  approved: boolean;
  /** Finished in an earlier version of the plan. */
  readonly isCarried: boolean;
  unacknowledged: boolean;
  /** Its record was answered before it is durable. */
  isAhead: boolean;
  /** An operator's decision that came before the record it answers was durable. */
  early: EarlyDecision | undefined;
}

/** An operator's decision on a unit whose record is not durable yet. */
export type EarlyDecision =
  | { type: "approval"; approved: boolean; reason: string | undefined }
  | { type: "resolve"; resolution: Resolution };

/** What makes calls, one at a time: a step, an item, or a batch of items. */
export interface Caller {
  /** Identity of its calls: `stepId`, `stepId[3]`, `stepId[0..9]`. */
  readonly key: string;
  readonly step: StepNode;
  /** Order among the callers of a step. */
  readonly position: number;
  readonly units: readonly Unit[];
  attempts: number;
  /** As for its units. */
  unsent: number;
  unreachable: Unreachable | undefined;
  /** Resolved once; a retry sends the same bytes. */
  prepared: Prepared | undefined;
  calling: boolean;
  /** Among the callers of its step that may be called now. */
  offered: boolean;
  /** Among the held calls of the plan. */
  held: boolean;
  /** Why and until when it waits for a time. */
  waiting: { until: number; reason: WaitReason } | undefined;
}

/** Arguments ready to be sent. */
export interface Prepared {
  arguments: JsonObject;
  warnings: readonly string[];
  /** Batches: the units whose arguments could be resolved, in the order of the list sent. */
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
  /** Steps of whose outputs its condition, its items or its arguments are made. */
  readonly reads: StepNode[];
  /** Steps that are not final and read its output; one more where a part of the plan's outputs does. */
  readers: number;
  /** The plan gives its whole output back. */
  isRequested: boolean;
  /** Longest remaining path; larger goes first. */
  readonly rank: number;
  /** Navigation that starts at once, whatever the plan says about its order. */
  readonly goesFirst: boolean;
  /** How many dependencies it gave up to open a cycle, until it may go: when nothing else can run. */
  opens: number | undefined;
  /** Dependencies that are not final yet. */
  unmet: number;
  /** True once its fate is durable and its dependents know. */
  final: boolean;
  /** True once its condition was looked at, so that this happens once. */
  admitted: boolean;
  /** A dependency failed and this step is skipped for it, or was found to be safe from that. */
  condemned: boolean;
  /** As in its record. */
  readonly unanswered: ReadonlySet<string>;
  forEach: Items | undefined;
  /** What an operator approves, or has approved; absent until approval is asked for. */
  approvable: JsonObject | undefined;
  /** Callers that may be called now. */
  readonly callers: Heap<Caller>;
  active: number;
  /** Calls that continue when the plan is resumed, or when there is a slot for them. */
  heldCalls: number;
  concurrency: number;
  /** The heap that it is in. */
  waitsIn: "nowhere" | "ready" | "limit" | "barrier" | "opener" | "loading";
}

/** The items of an expanded forEach. */
export interface Items {
  /** Absent while the outputs are that they follow from. */
  values: readonly JsonValue[] | undefined;
  readonly keys: readonly string[];
  readonly units: readonly Unit[];
  readonly callers: readonly Caller[];
  /** Items whose terminal record is durable. */
  settled: number;
  ok: number;
  failed: number;
  inDoubt: number;
  /** Records of items on their way. */
  unacknowledged: number;
  /**
   * The first failed item starts no new ones and fails the step: `errors` of the plan, else the contract of
   * the tool.
   */
  readonly stopsAtFailure: boolean;
  /** It stops at failures, and an item failed. */
  stopped: boolean;
}

/**
 * Who waits for outputs: a step, or the plan's end. Those of them that are in memory stay there until the
 * others are.
 */
export interface Loading {
  readonly node: StepNode | undefined;
  readonly units: readonly Unit[];
}

/** A tool with its limit inside this plan. */
export interface ToolSlot {
  readonly name: string;
  /** Absent when no such tool is known. */
  readonly descriptor: ToolDescriptor | undefined;
  /** Why it must not be called, if it must not: its steps fail with that when they would start. */
  readonly refusal: StepError | undefined;
  readonly contract: ToolContract;
  /** True when someone declared `error_propagation`, beyond the default. */
  readonly declaresErrorPropagation: boolean;
  readonly effectClass: EffectClass;
  readonly limit: number;
  /** Steps of the plan that call it. */
  users: number;
  running: number;
  /** Ready steps that found the tool at its limit. */
  readonly blocked: Heap<StepNode>;
}

/** Why nothing new starts any more. */
export type Stopping =
  | { type: "failed"; stepId: string }
  | { type: "cancelled"; reason: string }
  | { type: "expired" };

/** A wait for a time. */
export interface Wait {
  at: number;
  order: number;
  caller: Caller;
}

/** The barriers of a plan and how far they are; the start rule asks for no more than that. */
export interface Barriers {
  /** In the order in which they come: see `barrierOrder`. */
  readonly steps: readonly StepNode[];
  /** By position, how many of these come before a step. */
  readonly before: readonly number[];
  /** How many of them are final, counted from the first. */
  over: number;
  /** Steps that could start otherwise, by how many barriers come before them. */
  readonly held: Map<number, StepNode[]>;
}

/** Everything about one plan under way. Opaque to shells: use `decide`, `unitViews` and `waitReasonOf`. */
export interface EngineState {
  readonly plan: Plan;
  /** Most that a step may ask for beyond the policy, in milliseconds. */
  readonly maxStepTimeoutMs: number;
  readonly steps: readonly StepNode[];
  readonly stepsById: ReadonlyMap<string, StepNode>;
  /** Every unit by key; items appear when their step expands. */
  readonly units: Map<string, Unit>;
  /** Outputs of steps whose completion is durable. */
  readonly outputs: Map<string, JsonValue>;
  /** How those were written that tools gave as JSON text. */
  readonly texts: Map<string, OutputTexts>;
  /** Units whose outputs are in memory and can be dropped, with their bytes, used longest ago first. */
  readonly inMemory: Map<Unit, number>;
  inMemoryBytes: number;
  /** What waits for outputs that were dropped: steps by id, and the plan's end as "". */
  readonly loading: Map<string, Loading>;
  /** Most that the outputs may have together which one step refers to, in bytes. */
  readonly maxReadBytes: number;
  /** Bytes of the whole outputs that the plan returns, as far as they are stored. */
  requestedBytes: number;
  /** The parts of the plan's outputs that are made already, when it ends. */
  parts: { resolved: GrowingOutputs; made: number } | undefined;
  /** Statuses of final steps, for conditions. */
  readonly statuses: Map<string, StepStatus>;
  /** Records of items, kept until their step expands. */
  readonly itemRecords: Map<string, Map<number, StepRecord>>;
  readonly onlyReadOnlyTools: boolean;
  readonly ready: Heap<StepNode>;
  /** Which barriers have ended, and what waits for the others. */
  readonly barriers: Barriers;
  /** Ready barriers that found something under way. */
  readonly readyBarriers: Heap<StepNode>;
  /** Ready steps that open a cycle, until nothing else can run. */
  readonly openers: Heap<StepNode>;
  readonly waits: Heap<Wait>;
  waitCounter: number;
  /** Earliest time that a `timer` command is under way for. */
  timerAt: number | undefined;
  /** Calls under way by key. */
  readonly calls: Map<string, Caller>;
  running: number;
  barrierRunning: boolean;
  unacknowledged: number;
  /** Steps that are not final. */
  left: number;
  /** Units IN_DOUBT and WAITING_APPROVAL: why a plan waits. */
  inDoubt: number;
  awaitingApproval: number;
  started: boolean;
  paused: boolean;
  /** Steps that became ready while paused. */
  held: StepNode[];
  /**
   * Calls of which no end is known, to be made again, or asked about, when the plan is resumed and there is a
   * slot.
   */
  heldCalls: Caller[];
  stopping: Stopping | undefined;
  /**
   * Until then a plan that is being ended asks for the results of calls that may have acted; Unix
   * milliseconds.
   */
  graceEndsAt: number | undefined;
  /** The grace period has ended: what is not settled is in doubt. */
  isGraceOver: boolean;
  /** The step whose failure stopped the plan. */
  failedBy: string | undefined;
  /** A failure that stops the plan is on its way to the store: nothing new starts meanwhile. */
  failing: boolean;
  /** The first failure that ended or damaged the plan. */
  firstFailure: Unit | undefined;
  /**
   * The first list that completed although items of it failed; without an error while its output was not
   * read.
   */
  firstShortfall: { node: StepNode; error: StepError | undefined } | undefined;
  finished: boolean;
}
