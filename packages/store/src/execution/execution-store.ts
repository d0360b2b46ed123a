import type { Call, StepError, StepRecord, StoredOutput } from "@planwright/engine";
import type { Plan, PlanId, ToolDescriptor, WaitReason } from "@planwright/plan";
import type { LeaseStore } from "../leases/lease-table.ts";
import type { FinishCommand, PlanDocument } from "../records/plan-document.ts";
import type { LearnedOutput } from "../tools/observed-outputs.ts";
import type { CountedCalls } from "../tools/tool-call-stats.ts";
import type { ToolServerReport } from "../tools/tool-servers.ts";
import type { ClaimJournal } from "./claim-journal.ts";

/** A claim on a plan: what is durably known of it, and the epoch that every write filters on. */
export interface PlanClaim {
  plan: PlanDocument & { plan: Plan };
  epoch: number;
  owner: string;
  /** What is durable of its units, and where their changes are written. */
  journal: ClaimJournal;
  /** The same as the engine reads it, as found at the claim; without outputs that are large, or many. */
  records: StepRecord[];
}

/** A unit's new state; when its `arguments` are to be approved, with what stands for them. */
export type UnitRecord = StepRecord & {
  /** Hash of plan, step, arguments and tool: what an operator approves. */
  approvalHash?: string | undefined;
  /** SHA-256 of the arguments alone. */
  argsHash?: string | undefined;
};

/** An attempt's durable intent (R2). */
export interface Intent {
  call: Call;
  attemptId: string;
  argsHash: string;
}

/** How an attempt ended, beside the unit's new state. */
export interface AttemptEnd {
  key: string;
  attemptId: string;
  endedAtMs: number;
  durationMs: number;
  outcome: "completed" | "failed" | "aborted" | "unknown";
  error: StepError | null;
  /** Nothing was sent: the server could not be reached. */
  isUnsent?: boolean | undefined;
}

/** What the end of a plan follows from. */
export interface LastRecords {
  records: readonly StepRecord[];
  ends: readonly AttemptEnd[];
}

/** What the executor needs. Step writes of all plans in the process are committed in groups. */
export interface ExecutionStore {
  /** Raises the epoch of a plan that is due and that no executor holds; null when there is nothing to do. */
  claimPlan(planId: PlanId, owner: string): Promise<PlanClaim | null>;
  /** The leases of plans. */
  planLeases: LeaseStore<PlanId>;
  /**
   * Unix milliseconds by the clock of MongoDB, carried on by this process's monotonic clock: no jump of a
   * local clock moves it.
   */
  now(): number;
  /**
   * Reads new controls into the journals of plans that are held (`ClaimJournal.onControl`).
   * @throws {StoreUnavailableError}
   */
  applyControls(claims: readonly PlanClaim[]): Promise<void>;
  /**
   * Corrects requests whose plan ended while its executor died before it updated them, removes those whose
   * acceptance was cut off before their plan was stored (no client got an answer), and settles the outbox.
   * Returns how many requests were corrected. @throws {OutboxStuckError}
   */
  reconcileRequests(): Promise<number>;
  /**
   * Writes intents; durable when it returns.
   * @param ends - of attempts of the same units that ended before, and were not written. Default: none
   * @throws {LeaseLostError}
   */
  writeIntents(claim: PlanClaim, intents: readonly Intent[], ends?: readonly AttemptEnd[]): Promise<void>;
  /**
   * Notes intents whose calls may be repeated (class R): they go with the write of the result, which saves a
   * write. `writeNoted` writes them earlier, for calls that take long.
   */
  noteIntents(claim: PlanClaim, intents: readonly Intent[], ends?: readonly AttemptEnd[]): void;
  /**
   * Takes note of results that may be built on before they are durable, in their order: whatever is written
   * for the plan from now on is durable behind them, or with them. Returns what `writeRecords` does;
   * undefined, and nothing is noted, where an output has to be stored separately first.
   */
  noteRecords(
    claim: PlanClaim,
    records: readonly StepRecord[],
    ends: readonly AttemptEnd[],
  ): ReadonlyMap<string, number> | undefined;
  /** Writes what is noted. Durable when it returns. @throws {LeaseLostError} */
  writeNoted(claim: PlanClaim): Promise<void>;
  /**
   * Writes the new states of units; durable when it returns. Outputs over 32 KiB, and those that MongoDB
   * would change, are stored separately before. Returns the bytes of outputs by key: `readStoredOutputs`
   * reads those. @throws {LeaseLostError}
   */
  writeRecords(
    claim: PlanClaim,
    records: readonly StepRecord[],
    ends: readonly AttemptEnd[],
  ): Promise<ReadonlyMap<string, number>>;
  /**
   * Outputs of completed units of the plan, in the order of the keys.
   * @throws {OutputMissingError | StoreUnavailableError}
   */
  readStoredOutputs(claim: PlanClaim, keys: readonly string[]): Promise<StoredOutput[]>;
  /**
   * Releases the plan: WAITING or PAUSED until `dueAtMs` (null: until a control), or QUEUED to hand it over.
   * @throws {LeaseLostError}
   */
  releasePlan(
    claim: PlanClaim,
    to: { status: "WAITING" | "PAUSED"; reason: WaitReason; dueAtMs: number | null } | { status: "QUEUED" },
  ): Promise<void>;
  /**
   * The terminal write of plan and request. The last records become durable before it or with it, as
   * `writeRecords` writes them. Says whether the request waits for a planner now, to replan or to tell the
   * results. @throws {LeaseLostError}
   */
  finishPlan(claim: PlanClaim, finish: FinishCommand, last?: LastRecords): Promise<{ isForPlanner: boolean }>;
  /** Replaces what is known of a server's tools; tools that are gone disappear. */
  publishTools(
    server: string,
    tools: readonly { descriptor: ToolDescriptor; digest: string }[],
  ): Promise<void>;
  /** Replaces what is known of the connection to a server. */
  publishServer(word: ToolServerReport): Promise<void>;
  /** Adds to what is known of tools' outputs. Not fenced: an update that is lost is learned again. */
  learnOutputs(learned: readonly LearnedOutput[]): Promise<void>;
  /**
   * Adds what this process counted of calls to what all executors counted. Not fenced: nothing is decided by
   * it.
   */
  addToolCalls(counted: readonly CountedCalls[]): Promise<void>;
  /** Removes servers that are no longer configured, with their tools. */
  keepOnlyServers(servers: readonly string[]): Promise<void>;
}
