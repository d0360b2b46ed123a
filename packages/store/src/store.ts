import type { Call, Resolution, StepError, StepRecord } from "@planwright/engine";
import type {
  Diagnostic,
  JsonValue,
  Plan,
  PlanId,
  RequestId,
  RequestStatus,
  ToolDescriptor,
  WaitReason,
} from "@planwright/plan";
import type {
  FinishCommand,
  ModelCallDocument,
  OutputRef,
  PlanApproval,
  PlanDocument,
  PlanOrigin,
  PlanWishes,
  RecordedError,
  RequestDocument,
  StepDocument,
  ToolDocument,
} from "./documents.ts";

/** A page of a list, newest first; `cursor` goes on after the last one. */
export interface Page<T> {
  items: T[];
  cursor: string | null;
}

/** A client's own name for a submission, so that sending it again does nothing twice. Good for 24 h, for one tenant. */
export interface Idempotency {
  key: string;
  /** SHA-256 of what is submitted: the key stands for nothing else. */
  payloadHash: string;
}

/** An operator's word on a unit that is in doubt. */
export interface ResolutionWord {
  key: string;
  /** The attempt that was looked at; default the one in doubt. */
  attempt?: number | undefined;
  resolution: Resolution;
  by: string;
}

/** What became of a wish to run a plan again. */
export type RerunAnswer =
  | { type: "rerun"; request: RequestDocument; plan: PlanDocument }
  /** The current plan goes on, or was never started. */
  | { type: "not over"; plan: PlanDocument }
  /** Units that would run again although nobody knows whether they happened. */
  | { type: "in doubt"; keys: string[] }
  /** Everything completed, and no step was named. */
  | { type: "nothing failed" }
  | { type: "unknown step" }
  /** The current plan can never run. */
  | { type: "invalid"; request: RequestDocument; plan: PlanDocument }
  /** Planning goes on, or ended without a plan. */
  | { type: "no plan"; request: RequestDocument }
  | { type: "unknown" };

/** What the API needs. Every read and write is bound to a tenant: another tenant's id looks like an unknown one. */
export interface ClientStore {
  /**
   * Accepts a sentence: status PLANNING, ids fixed. Durable (majority, journalled) when it returns. A key that stands for
   * the same sentence gives the request that it made. @throws {IdempotencyKeyReusedError}
   */
  createRequest(input: {
    tenant: string;
    query: string;
    autoExecute: boolean;
    idempotency?: Idempotency | undefined;
  }): Promise<RequestDocument>;
  /**
   * Accepts a submitted plan, valid or not: a request READY (or EXECUTING with `autoExecute`), or FAILED with a plan INVALID.
   * `plan` is null when the submission could not be read as a plan. A key that stands for the same plan gives the request
   * that it made, with its first version. @throws {IdempotencyKeyReusedError}
   */
  submitPlan(input: {
    tenant: string;
    query: string | null;
    plan: Plan | null;
    raw: string;
    diagnostics: Diagnostic[];
    autoExecute: boolean;
    idempotency?: Idempotency | undefined;
  }): Promise<{ request: RequestDocument; plan: PlanDocument }>;
  /** READY -> QUEUED (the request: EXECUTING). Any other status is left as it is. Returns the plan, or null when unknown. */
  queuePlan(tenant: string, planId: PlanId, requestId: RequestId): Promise<PlanDocument | null>;
  /** Asks for the end of a plan: READY ends at once, QUEUED and later get `cancelRequestedAt`. Null when unknown. */
  requestCancel(tenant: string, planId: PlanId): Promise<PlanDocument | null>;
  /**
   * Asks that nothing more of a plan starts: QUEUED and WAITING are PAUSED at once, a RUNNING one as soon as its calls have
   * ended. Any other, and one whose end was asked for, is left as it is. Null when unknown.
   */
  requestPause(tenant: string, planId: PlanId): Promise<PlanDocument | null>;
  /** Lets a paused plan go on: PAUSED -> QUEUED, due now. Any other is left as it is. Null when unknown. */
  requestResume(tenant: string, planId: PlanId): Promise<PlanDocument | null>;
  /**
   * Takes an operator's word on a step that waits for approval. Of several words on one hash the first one counts; the same
   * word again is taken as said.
   */
  approveStep(
    tenant: string,
    planId: PlanId,
    word: Omit<PlanApproval, "at">,
  ): Promise<
    | { type: "recorded"; plan: PlanDocument }
    /** There is another hash to be approved. */
    | { type: "stale"; step: StepDocument }
    /** Nobody asks for approval, not yet or no longer. */
    | { type: "not waiting"; step: StepDocument }
    /** The opposite was said before. */
    | { type: "decided"; step: StepDocument }
    /** No such plan, or no such step in it. */
    | { type: "unknown" }
  >;
  /**
   * Takes an operator's word on a unit that is in doubt. While the plan goes on, its executor acts on it; in a plan that is
   * over the unit gets its last state here: FAILED where it should be called again, which is left to a rerun.
   */
  resolveUnit(
    tenant: string,
    planId: PlanId,
    word: ResolutionWord,
  ): Promise<
    | { type: "recorded"; plan: PlanDocument }
    /** It is not, no longer, or the step of this item is COMPLETED; or another attempt is in doubt by now. */
    | { type: "not in doubt"; unit: StepDocument }
    /** Somebody else said so before. */
    | { type: "decided"; unit: StepDocument }
    /** The output is over 32 KiB, or nothing that MongoDB can hold. */
    | { type: "too large" }
    /** No such plan, or no such unit in it. */
    | { type: "unknown" }
  >;
  /**
   * Makes a new version of a plan that is over, under its request. What did not complete runs again; with `from` also that step
   * and all that depends on it. Every other step is carried over with its output and is never called again. Of several reruns
   * at once one makes a version.
   */
  rerunPlan(
    tenant: string,
    requestId: RequestId,
    options: { from: string | null; autoExecute: boolean },
  ): Promise<RerunAnswer>;
  /** Plans and requests in planning that are not over, of all tenants, or `limit` when there are more. Plans that never started and were paused do not count. */
  countUnfinished(limit: number): Promise<number>;
  /**
   * Takes the answers to the questions of a request that is NEEDS_INPUT, in their order: it is planned again. Any other request is
   * given back as it is; null when unknown.
   */
  answerQuestions(
    tenant: string,
    requestId: RequestId,
    answers: readonly string[],
  ): Promise<RequestDocument | null>;
  getRequest(tenant: string, requestId: RequestId): Promise<RequestDocument | null>;
  getPlan(tenant: string, planId: PlanId): Promise<PlanDocument | null>;
  /** All versions of a request's plan, newest first. */
  listPlans(tenant: string, requestId: RequestId): Promise<PlanDocument[]>;
  /** Many plans at once, in the order of the ids; null for unknown ones. */
  getPlans(tenant: string, planIds: readonly PlanId[]): Promise<(PlanDocument | null)[]>;
  /** Steps and items in plan order, the steps of several plans in one read. */
  listSteps(tenant: string, planIds: readonly PlanId[]): Promise<StepDocument[]>;
  /** Outputs that stand aside of their steps (`outputRef`), by id of the reference. @throws {OutputMissingError} */
  readOutputs(tenant: string, refs: readonly OutputRef[]): Promise<Map<string, JsonValue>>;
  /** Newest first. `first` is 1 to 100. @throws {CursorInvalidError} */
  listRequests(
    tenant: string,
    page: { first: number; after?: string | undefined; status?: readonly RequestStatus[] | undefined },
  ): Promise<Page<RequestDocument>>;
  listModelCalls(tenant: string, requestId: RequestId): Promise<ModelCallDocument[]>;
  /** The catalogue, as executors last published it, by server and name. */
  listTools(): Promise<ToolDocument[]>;
  /** The catalogue as descriptors whose `name` is unique: `server/tool` where two servers offer the same one. */
  toolCatalogue(): Promise<ToolDescriptor[]>;
}

/** A claim on a request to plan. Writes with a stale epoch match nothing. */
export interface PlanningClaim {
  request: RequestDocument;
  epoch: number;
}

/** What the planner needs. */
export interface PlanningStore {
  /** Claims a request in PLANNING whose lease is free or expired; null when there is nothing to do. Lease 30 s. */
  claimRequest(requestId: RequestId, owner: string): Promise<PlanningClaim | null>;
  /** False when the lease was lost: stop. */
  renewPlanning(claim: PlanningClaim): Promise<boolean>;
  /** Requests in PLANNING that nobody holds, oldest first: for the sweeper. */
  findUnplanned(limit: number): Promise<RequestId[]>;
  /**
   * Stores the plan under the request's own planId and moves the request on: READY, or EXECUTING with autoExecute.
   * Planning twice cannot store two plans. @throws {LeaseLostError}
   */
  completePlanning(
    claim: PlanningClaim,
    result: { plan: Plan; raw: string | null; origin: PlanOrigin; diagnostics: Diagnostic[] },
  ): Promise<PlanDocument>;
  /** Ends planning without a runnable plan: the request FAILED; an INVALID plan is stored when there is anything to show. @throws {LeaseLostError} */
  failPlanning(
    claim: PlanningClaim,
    failure: {
      error: RecordedError;
      diagnostics: Diagnostic[];
      raw: string | null;
      plan: Plan | null;
      origin: PlanOrigin;
    },
  ): Promise<void>;
  /** Ends planning with questions to the user: NEEDS_INPUT. @throws {LeaseLostError} */
  askQuestions(claim: PlanningClaim, questions: string[]): Promise<void>;
  recordModelCall(call: Omit<ModelCallDocument, "_id" | "createdAt">): Promise<void>;
  toolCatalogue(): Promise<ToolDescriptor[]>;
}

/** A change to a unit's document that is not written yet; the unit's next write carries it. */
export interface NotedChange {
  document: StepDocument;
  change: Partial<StepDocument>;
}

/** A claim on a plan: what is durably known of it, and the epoch that every write filters on. */
export interface PlanClaim {
  plan: PlanDocument & { plan: Plan };
  epoch: number;
  owner: string;
  /** Every unit's document by key, kept current by the writes of this claim. */
  steps: Map<string, StepDocument>;
  /** Intents that need not be durable before their calls, by key. */
  noted: Map<string, NotedChange>;
  /** The same as the engine reads it, as found at the claim. */
  records: StepRecord[];
  /** No call may start later: a reading of `performance.now()`, taken before the claim or renewal was sent, plus the lease. */
  validUntil: number;
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
}

/** What the executor needs. Step writes of all plans in the process are committed in groups. */
export interface ExecutionStore {
  /** Raises the epoch of a plan that is due and that nobody holds; null when there is nothing to do. */
  claimPlan(planId: PlanId, owner: string): Promise<PlanClaim | null>;
  /** Renews many leases at once. Returns the claims that are lost; the others are held on. @throws {StoreUnavailableError} */
  renewLeases(claims: readonly PlanClaim[]): Promise<PlanClaim[]>;
  /** Plans that are due and that nobody holds, oldest first: for the sweeper. */
  findClaimable(limit: number): Promise<PlanId[]>;
  /** Unix milliseconds by the clock of MongoDB, carried on by this process's monotonic clock: no jump of a local clock moves it. */
  now(): number;
  /** What clients and operators want of the plans held; plans that nobody wants anything of are left out. */
  findWishes(planIds: readonly PlanId[]): Promise<PlanWishes[]>;
  /** Brings requests in line whose plan ended while its executor died before saying so. Returns how many. */
  reconcileRequests(): Promise<number>;
  /** Writes intents; durable when it returns. @throws {LeaseLostError} */
  writeIntents(claim: PlanClaim, intents: readonly Intent[]): Promise<void>;
  /**
   * Takes note of intents whose calls may be repeated (class R): the write of the result carries them, which spares a write.
   * `writeNoted` makes those visible whose calls take long.
   */
  noteIntents(claim: PlanClaim, intents: readonly Intent[]): void;
  /** Writes what is noted. @throws {LeaseLostError} */
  writeNoted(claim: PlanClaim): Promise<void>;
  /**
   * Writes the new states of units; durable when it returns. Outputs over 32 KiB, and those that MongoDB would change, are
   * stored aside of their steps before. @throws {LeaseLostError}
   */
  writeRecords(claim: PlanClaim, records: readonly StepRecord[], ends: readonly AttemptEnd[]): Promise<void>;
  /**
   * Gives the plan back: WAITING or PAUSED until `dueAtMs` (null: until somebody wants something), or QUEUED to hand it over.
   * @throws {LeaseLostError}
   */
  releasePlan(
    claim: PlanClaim,
    to: { status: "WAITING" | "PAUSED"; reason: WaitReason; dueAtMs: number | null } | { status: "QUEUED" },
  ): Promise<void>;
  /** The terminal write of plan and request. @throws {LeaseLostError} */
  finishPlan(claim: PlanClaim, finish: FinishCommand): Promise<void>;
  /** Replaces what is known of a server's tools; tools that are gone disappear. */
  publishTools(
    server: string,
    tools: readonly { descriptor: ToolDescriptor; digest: string }[],
  ): Promise<void>;
  /** Removes the tools of servers that are no longer configured. */
  keepOnlyServers(servers: readonly string[]): Promise<void>;
}

/** Everything, with its life. */
export interface Store extends ClientStore, PlanningStore, ExecutionStore {
  /** Answers when MongoDB does. @throws {StoreUnavailableError} */
  ping(): Promise<void>;
  close(): Promise<void>;
}
