import type { Call, Effect, StepError, StepRecord, StoredOutput } from "@planwright/engine";
import type { Plan, PlanId, ToolDescriptor, WaitReason } from "@planwright/plan";
import type { LeaseStore } from "../leases/lease-table.ts";
import type { FinishCommand, PlanDocument } from "../records/plan-document.ts";
import type { ServerReload } from "../records/tool-documents.ts";
import type { LearnedOutput } from "../tools/observed-outputs.ts";
import type { CountedCalls } from "../tools/tool-call-stats.ts";
import type { AskedReload, ToolServerReport } from "../tools/tool-servers.ts";
import type { Repeat, UnitToCall } from "../versions/earlier-calls.ts";
import type { ClaimJournal } from "./claim-journal.ts";

/** A claim on a plan: its durable state, and the epoch that fences every write. */
export interface PlanClaim {
  plan: PlanDocument & { plan: Plan };
  epoch: number;
  owner: string;
  /** The durable state of the units; changes are written through it. */
  journal: ClaimJournal;
  /**
   * The units at the time of the claim, in the form of the engine. Large outputs are absent, and small ones
   * beyond 1 MiB together.
   */
  records: StepRecord[];
  /**
   * How long the plan waited until this claim, and for what: since it was queued ("no worker"), or since an
   * executor released it. Null for a plan that was taken from a dead executor.
   */
  waited: { reason: WaitReason; ms: number } | null;
}

/** A unit's new state. When its `arguments` are to be approved, it has their hashes. */
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
  /** Its idempotency key, when it is not `{planId}/{the only unit}`. */
  sentKey?: string | undefined;
  /** Size and beginning of large arguments, which are not in `call`. Default: those of the call. */
  large?: { sizeBytes: number; text: string } | undefined;
}

/** How an attempt ended; the unit's new state is separate. */
export interface AttemptEnd {
  key: string;
  attemptId: string;
  endedAtMs: number;
  durationMs: number;
  outcome: "completed" | "failed" | "aborted" | "unknown";
  error: StepError | null;
  /** The call was not sent: the server could not be reached. */
  isUnsent?: boolean | undefined;
  /** What is known about its effect; null for a call that cannot have one. Default: it follows from `outcome`. */
  effect?: Effect | null | undefined;
}

/** The last records and ends of attempts before the end of a plan. */
export interface LastRecords {
  records: readonly StepRecord[];
  ends: readonly AttemptEnd[];
}

/** The operations that the executor needs. Writes of all plans in the process share bulks. */
export interface ExecutionStore {
  /**
   * Claims a plan that is due and that no executor holds, by raising its epoch; null when there is nothing to
   * do.
   */
  claimPlan(planId: PlanId, owner: string): Promise<PlanClaim | null>;
  /** The leases of plans. */
  planLeases: LeaseStore<PlanId>;
  /**
   * Unix milliseconds by the clock of MongoDB, continued by this process's monotonic clock: a jump of the
   * local clock does not change it.
   */
  now(): number;
  /**
   * Reads new controls into the journals of plans that are held (`ClaimJournal.onControl`).
   * @throws {StoreUnavailableError}
   */
  applyControls(claims: readonly PlanClaim[]): Promise<void>;
  /**
   * Corrects requests whose executor died after the end of the plan and before it updated them. Removes
   * requests whose acceptance was interrupted before their plan was stored (no client got an answer).
   * Returns how many requests were corrected. @throws {StoreUnavailableError}
   */
  reconcileRequests(): Promise<number>;
  /**
   * Reads what the earlier versions of the plan have called, to compare the calls of this one with: see
   * `createRepeats`. Undefined for a plan without earlier versions.
   * @throws {StoreUnavailableError}
   */
  readRepeats(claim: PlanClaim): Promise<((unit: UnitToCall) => Repeat) | undefined>;
  /**
   * Writes intents; durable when it returns.
   * @param ends - earlier attempts of the same units whose ends are not written yet. Default: none
   * @throws {LeaseLostError}
   */
  writeIntents(claim: PlanClaim, intents: readonly Intent[], ends?: readonly AttemptEnd[]): Promise<void>;
  /**
   * Notes intents whose calls may be repeated (class R): they are written with the result, which saves a
   * write. `writeNoted` writes them earlier, for long calls.
   */
  noteIntents(claim: PlanClaim, intents: readonly Intent[], ends?: readonly AttemptEnd[]): void;
  /**
   * Notes results that may be used before they are durable, in their order: later writes for the plan become
   * durable after them or with them. Returns the same as `writeRecords`. Undefined, and nothing is noted,
   * when an output has to be stored separately first.
   */
  noteRecords(
    claim: PlanClaim,
    records: readonly StepRecord[],
    ends: readonly AttemptEnd[],
  ): ReadonlyMap<string, number> | undefined;
  /** Writes noted intents and results. Durable when it returns. @throws {LeaseLostError} */
  writeNoted(claim: PlanClaim): Promise<void>;
  /**
   * Writes the new states of units; durable when it returns. Outputs over 32 KiB, and those that MongoDB
   * would change, are stored separately first. Returns the sizes of outputs in bytes, by key:
   * `readStoredOutputs` reads them. @throws {LeaseLostError}
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
   * `writeRecords` writes them. Returns whether the request waits for a planner now, to replan or to write an
   * answer from the results. @throws {LeaseLostError}
   */
  finishPlan(claim: PlanClaim, finish: FinishCommand, last?: LastRecords): Promise<{ isForPlanner: boolean }>;
  /** Replaces the tools of a server in the catalogue; tools that are absent are removed. */
  publishTools(
    server: string,
    tools: readonly { descriptor: ToolDescriptor; digest: string }[],
  ): Promise<void>;
  /** Replaces the stored state of the connection to a server. */
  publishServer(report: ToolServerReport): Promise<void>;
  /** The newest request of an operator to reload each server, of the servers that have one. */
  readAskedReloads(): Promise<AskedReload[]>;
  /** Stores how this executor reloaded a server. */
  reportReload(server: string, reload: ServerReload): Promise<void>;
  /** Adds observations of tools' outputs. Not fenced: an update that is lost is learned again. */
  learnOutputs(learned: readonly LearnedOutput[]): Promise<void>;
  /**
   * Adds this process's counts of calls to those of all executors. Not fenced: no decision depends on them.
   */
  addToolCalls(counted: readonly CountedCalls[]): Promise<void>;
  /** Removes servers that are no longer configured, with their tools. */
  keepOnlyServers(servers: readonly string[]): Promise<void>;
}
