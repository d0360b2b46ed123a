import type { Call, Resolution, StepError, StepRecord, StoredOutput } from "@planwright/engine";
import type {
  Diagnostic,
  JsonValue,
  OpenQuestion,
  Plan,
  PlanId,
  PlanStatus,
  PolicyInput,
  RequestId,
  RequestStatus,
  ToolDescriptor,
  ToolPin,
  WaitReason,
} from "@planwright/plan";
import type { AccessStore } from "./access/access-store.ts";
import type { ClaimJournal } from "./execution/claim-journal.ts";
import type { ChangedRequest, ChangedWanted } from "./live/read-changed.ts";
import type { ChangeListener, ChangeWatch } from "./live/watch-changes.ts";
import type { LimitExceeded } from "./planning/model-budget.ts";
import type { Page } from "./reads/page.ts";
import type { PagedReads } from "./reads/paged-reads.ts";
import type { HeadReads, StateReads } from "./records/document-heads.ts";
import type {
  FinishCommand,
  GivenAnswer,
  GivenContext,
  KeptDraft,
  ModelCallDocument,
  ModelLimits,
  ModelSpending,
  OutputRef,
  PlanApproval,
  PlanDocument,
  PlanOrigin,
  RecordedError,
  ReplanWish,
  RequestDocument,
  StepDocument,
  ToolDocument,
  ToolServerDocument,
  TraceOrigin,
} from "./records/documents.ts";
import type { RemoveEnded } from "./retention/remove-ended.ts";
import type { LearnedOutput } from "./tools/observed-outputs.ts";
import type { ToolServerWord } from "./tools/tool-servers.ts";
import type { ArgumentChange, ChangeRefusal } from "./versions/change-arguments.ts";
import type { WorkerStore } from "./workers/worker-store.ts";

/** Which requests are wanted: those that fit everything that is given. */
export interface RequestFilter {
  status?: readonly RequestStatus[] | undefined;
  /** Name of a tool that a version of the plan uses. */
  tool?: string | undefined;
  /** Code with which planning, the last replan, or a version of the plan failed; with `tool`, a version that uses it. */
  errorCode?: string | undefined;
  /** A tag that the request was given. */
  tag?: string | undefined;
  /** What the query contains, whatever the case of its letters. */
  text?: string | undefined;
  createdFrom?: Date | undefined;
  createdBefore?: Date | undefined;
  /** What only people can do for it: approve or settle a step of one of its plans, or answer the planner. */
  needs?: RequestNeed | undefined;
}

/** What a request waits for that no worker can give: see {@link RequestFilter}. */
export type RequestNeed = "approval" | "doubt" | "answer";

/** A part of the list of requests. */
export interface RequestPage {
  /** 1 to 100. */
  first: number;
  after?: string | undefined;
  filter?: RequestFilter | undefined;
  /** By time of creation; to the second with a filter by tool or error code. Default "newest", first. */
  order?: "newest" | "oldest" | undefined;
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

/** The key was used before: nothing was done now. */
export interface Repeated {
  type: "repeated";
  /** What the key stands for, as it stands now. */
  request: RequestDocument;
}

/** Beside what another version of a plan is asked for with. */
export interface VersionWish {
  /** The version that the caller has looked at, from 1: nothing is made when another one is current. Default: any. */
  fromVersion?: number | undefined;
  /** Sent again under its key a wish makes nothing more. Keys of rerun and of replan are apart, and apart from those of submissions. */
  idempotency?: Idempotency | undefined;
}

/** What became of a wish to run a plan again. */
export type RerunAnswer =
  | { type: "rerun"; request: RequestDocument; plan: PlanDocument }
  /** Its key made a version before, and now none. */
  | Repeated
  /** Another version is current than the one that the caller has looked at. */
  | { type: "other version"; request: RequestDocument }
  /** The current plan goes on, or was never started. */
  | { type: "not over"; plan: PlanDocument }
  /** Units that would run again although it is unknown whether they happened. */
  | { type: "in doubt"; keys: string[] }
  /** Everything completed, and no step was named. */
  | { type: "nothing failed" }
  | { type: "unknown step"; stepId: string }
  /** Other arguments were asked for, and the step has completed, or a call of it acted or may have. */
  | Exclude<ChangeRefusal, { type: "unknown step" }>
  /** With other arguments the plan could not run. Nothing is stored. */
  | { type: "invalid arguments"; plan: PlanDocument; diagnostics: Diagnostic[] }
  /** The current plan can never run. */
  | { type: "invalid"; request: RequestDocument; plan: PlanDocument }
  /** Planning goes on, or ended without a plan. */
  | { type: "no plan"; request: RequestDocument }
  | { type: "unknown" };

/** A plan that was put in the place of another one. */
export interface AmendedPlan {
  type: "amended";
  request: RequestDocument;
  plan: PlanDocument;
  /** Ids of steps that completed and are carried over, never to be called again. */
  carried: string[];
  /** Of steps with side effects that completed: those that are called again, since they or what they use has changed. */
  repeated: string[];
  /** And those that are not. */
  notRepeated: string[];
}

/** What became of a wish to put another plan in the place of one. */
export type AmendAnswer =
  | AmendedPlan
  /** Its key made a version before, and now none. */
  | Repeated
  /** Another version is current than the one that the caller has looked at. */
  | { type: "other version"; request: RequestDocument }
  /** The current plan was started, and goes on. */
  | { type: "not over"; plan: PlanDocument }
  /** Units of unknown effect: another plan might make them happen again. */
  | { type: "in doubt"; keys: string[] }
  /** Units of which a call acted, or may have, and no answer says so: in other words it would be another call beside that one. */
  | { type: "may have acted"; keys: string[] }
  /** Planning goes on, or ended without a plan. */
  | { type: "no plan"; request: RequestDocument }
  | { type: "unknown" };

/** What became of a wish to make a plan anew. */
export type ReplanAnswer =
  /** A planner takes it from here: the request is PLANNING. */
  | { type: "replanning"; request: RequestDocument }
  /** Its key was taken before, and leads to nothing now. */
  | Repeated
  /** Another version is current than the one that the caller has looked at. */
  | { type: "other version"; request: RequestDocument }
  /** The current plan goes on, or was never started. */
  | { type: "not over"; plan: PlanDocument }
  /** Units of unknown effect: a new plan might make them happen again. */
  | { type: "in doubt"; keys: string[] }
  /** Every step completed. */
  | { type: "nothing failed" }
  /** The request has had as many as it can have. */
  | { type: "too many"; made: number }
  /** The current plan can never run. */
  | { type: "invalid"; request: RequestDocument; plan: PlanDocument }
  /** Planning goes on, or ended without a plan. */
  | { type: "no plan"; request: RequestDocument }
  | { type: "unknown" };

/** What became of an operator's word on a step that waits for approval. */
export type ApprovalAnswer =
  /** It is told, by the operator who said it first. */
  | { type: "recorded"; plan: PlanDocument; by: string }
  /** There is another hash to be approved. */
  | { type: "stale"; step: StepDocument }
  /** No approval is asked for, not yet or no longer. */
  | { type: "not waiting"; step: StepDocument }
  /** The opposite was said before. */
  | { type: "decided"; step: StepDocument }
  /** No such plan, or no such step in it. */
  | { type: "unknown" };

/** What became of an operator's word on a unit in doubt. */
export type ResolutionAnswer =
  | { type: "recorded"; plan: PlanDocument }
  /** It is not, no longer, or the step of this item is COMPLETED; or another attempt is in doubt by now. */
  | { type: "not in doubt"; unit: StepDocument }
  /** Another operator said so before. */
  | { type: "decided"; unit: StepDocument }
  /** The output is over 32 KiB, or nothing that MongoDB can hold. */
  | { type: "too large" }
  /** No such plan, or no such unit in it. */
  | { type: "unknown" };

/** What the API needs. Every read and write is bound to a tenant: another tenant's id looks like an unknown one. */
export interface ClientStore extends PagedReads, HeadReads, StateReads {
  /**
   * Accepts a sentence: status PLANNING, ids fixed. Durable (majority, journalled) when it returns. A key that stands for
   * the same sentence gives the request that it made. @throws {IdempotencyKeyReusedError}
   */
  createRequest(input: {
    tenant: string;
    query: string;
    /** Words by which the request is found again. Default: none. */
    tags?: readonly string[] | undefined;
    autoExecute: boolean;
    /** Replans that may follow failures without being asked for. Default 0. */
    maxReplans?: number | undefined;
    /** Tell the results in words at the end. Default false. */
    wantsAnswer?: boolean | undefined;
    /** What the caller said of now and here. Default: nothing. */
    context?: GivenContext | undefined;
    /** What the caller wants of the plan's policy. Default: nothing. */
    policy?: PolicyInput | undefined;
    /** Most that the request's model calls may take. Default: no limits. */
    modelLimits?: ModelLimits | undefined;
    /** Where the trace stands; kept with the request. Default: not traced. */
    trace?: TraceOrigin | undefined;
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
    /** Words by which the request is found again. Default: none. */
    tags?: readonly string[] | undefined;
    plan: Plan | null;
    /** Of the catalogue that the plan was checked against. Default: nothing is pinned. */
    toolPins?: ToolPin[] | undefined;
    raw: string;
    diagnostics: Diagnostic[];
    autoExecute: boolean;
    /** Replans that may follow failures without being asked for. Default 0. */
    maxReplans?: number | undefined;
    /** Tell the results in words at the end. Default false. */
    wantsAnswer?: boolean | undefined;
    /** Most that the model calls of replans and answers may take. Default: no limits. */
    modelLimits?: ModelLimits | undefined;
    /** Where the trace stands; kept with the request. Default: not traced. */
    trace?: TraceOrigin | undefined;
    idempotency?: Idempotency | undefined;
  }): Promise<{ request: RequestDocument; plan: PlanDocument }>;
  /** READY -> QUEUED (the request: EXECUTING). Any other status is left as it is. Returns the plan, or null when unknown. */
  queuePlan(
    tenant: string,
    planId: PlanId,
    requestId: RequestId,
    /** Who asks, for the journal. Default "api". */
    by?: string,
  ): Promise<PlanDocument | null>;
  /** Asks for the end of a plan: READY ends at once, QUEUED and later get `cancelRequestedAt`. Null when unknown. */
  requestCancel(tenant: string, planId: PlanId, by: string): Promise<PlanDocument | null>;
  /**
   * Asks that nothing more of a plan starts: QUEUED and WAITING are PAUSED at once, a RUNNING one as soon as its calls have
   * ended. Any other, and one whose end was asked for, is left as it is. Null when unknown.
   */
  requestPause(tenant: string, planId: PlanId, by: string): Promise<PlanDocument | null>;
  /** Lets a paused plan go on: PAUSED -> QUEUED, due now. Any other is left as it is. Null when unknown. */
  requestResume(tenant: string, planId: PlanId, by: string): Promise<PlanDocument | null>;
  /**
   * Takes an operator's word on a step that waits for approval. Of several words on one hash the first one counts; the same
   * word again is taken as said.
   */
  approveStep(tenant: string, planId: PlanId, word: Omit<PlanApproval, "at">): Promise<ApprovalAnswer>;
  /**
   * Takes an operator's word on a unit that is in doubt. While the plan goes on, its executor acts on it; in a plan that is
   * over the unit gets its last state here: FAILED where it should be called again, which is left to a rerun.
   */
  resolveUnit(tenant: string, planId: PlanId, word: ResolutionWord): Promise<ResolutionAnswer>;
  /**
   * Makes a new version of a plan that is over, under its request. What did not complete runs again; with `from` also that step
   * and all that depends on it. Every other step is carried over with its output and is never called again. Of several reruns
   * at once one makes a version. Steps that did not complete may get other arguments, where no call of theirs can have acted.
   * @throws {IdempotencyKeyReusedError} when the key made something else
   */
  rerunPlan(
    tenant: string,
    requestId: RequestId,
    options: VersionWish & {
      from: string | null;
      autoExecute: boolean;
      /** Who asks, for the journal. Default "api". */
      by?: string | undefined;
      changes?: readonly ArgumentChange[] | undefined;
    },
  ): Promise<RerunAnswer>;
  /**
   * Puts another plan, checked by the caller, in the place of one that is over, or was not started: that one is SUPERSEDED. Steps that stand in both, word
   * for word, and that completed are carried over; all others begin anew. Of several at once one makes a version.
   * @throws {IdempotencyKeyReusedError} when the key made something else
   */
  amendPlan(
    tenant: string,
    requestId: RequestId,
    amended: VersionWish & Omit<NewVersion, "origin"> & { autoExecute: boolean; by?: string | undefined },
  ): Promise<AmendAnswer>;
  /**
   * The version that an amendment made under this key; undefined where there was none. To be asked before a plan is checked: what is told already is not
   * checked again. @throws {IdempotencyKeyReusedError} when the key made something else
   */
  findAmended(tenant: string, requestId: RequestId, idempotency: Idempotency): Promise<Repeated | undefined>;
  /**
   * Leaves a request whose plan is over, and not COMPLETED, to a planner, which makes another version of the plan from what became
   * of this one. Of several replans and reruns at once one is taken.
   * @throws {IdempotencyKeyReusedError} when the key made something else
   */
  requestReplan(
    tenant: string,
    requestId: RequestId,
    wish: ReplanWish &
      VersionWish & { /** Who asks, for the journal. Default "api". */ by?: string | undefined },
  ): Promise<ReplanAnswer>;
  /**
   * Ends planning that waits or is under way, of a first plan or another version: the request is CANCELLED, no plan comes, and the
   * planner that holds it has lost its lease. Null when the request is not being planned.
   * @param by - who asks, for the journal. Default "api"
   */
  cancelPlanning(tenant: string, requestId: RequestId, by?: string): Promise<RequestDocument | null>;
  /** Plans and requests in planning that are not over, of all tenants, or `limit` when there are more. Plans that never started and were paused do not count. */
  countUnfinished(limit: number): Promise<number>;
  /** How many plans of all tenants are in each state that is not terminal, `limit` of a state at most. Every such state is named. */
  countPlansByStatus(limit: number): Promise<ReadonlyMap<PlanStatus, number>>;
  /**
   * Takes answers to open questions of a request that is NEEDS_INPUT. It is planned on once none is open any more, or at once when its draft
   * is given up. Null, and nothing is taken, when one of the questions is open no more.
   */
  answerQuestions(
    tenant: string,
    requestId: RequestId,
    given: {
      answers: readonly Omit<GivenAnswer, "at">[];
      givesUpDraft: boolean;
      /** Who answers, for the journal. Default "api". */
      by?: string | undefined;
    },
  ): Promise<RequestDocument | null>;
  /** Like `getPlan` and `listSteps`: asked by many in one turn, it is one read. */
  getRequest(tenant: string, requestId: RequestId): Promise<RequestDocument | null>;
  /** Many requests in one read, in the order of the ids; null for unknown ones. */
  getRequests(tenant: string, requestIds: readonly RequestId[]): Promise<(RequestDocument | null)[]>;
  getPlan(tenant: string, planId: PlanId): Promise<PlanDocument | null>;
  /** All versions of a request's plan, newest first. */
  listPlans(tenant: string, requestId: RequestId): Promise<PlanDocument[]>;
  /** Many plans at once, in the order of the ids; null for unknown ones. */
  getPlans(tenant: string, planIds: readonly PlanId[]): Promise<(PlanDocument | null)[]>;
  /** Steps and items in plan order, the steps of several plans in one read. */
  listSteps(tenant: string, planIds: readonly PlanId[]): Promise<StepDocument[]>;
  /** Outputs that stand aside of their steps (`outputRef`), by id of the reference. @throws {OutputMissingError} */
  readOutputs(tenant: string, refs: readonly OutputRef[]): Promise<Map<string, JsonValue>>;
  /** Sizes of the documents that such an output takes, in UTF-8, in bytes. @throws {OutputMissingError} */
  measureOutputParts(tenant: string, ref: OutputRef): Promise<number[]>;
  /** The text of one of them, from 0: together they are its JSON text. @throws {OutputMissingError} */
  readOutputPart(tenant: string, ref: OutputRef, part: number): Promise<string>;
  /**
   * A page may hold fewer than `first` although more follow: the cursor tells, null at the end.
   * @throws {CursorInvalidError}
   */
  listRequests(tenant: string, page: RequestPage): Promise<Page<RequestDocument>>;
  /** Calls of chat models for one request, oldest first. */
  listModelCalls(tenant: string, requestId: RequestId): Promise<ModelCallDocument[]>;
  /** The catalogue, as executors last published it, by server and name. */
  listTools(): Promise<ToolDocument[]>;
  /**
   * The catalogue as descriptors whose `name` is unique: `server/tool` where two servers offer the same one. For a tenant with what its runs
   * have shown of outputs (`observedOutput`).
   */
  toolCatalogue(tenant?: string): Promise<ToolDescriptor[]>;
  /** The tool servers of the executors, by name, and where the connections to them stand. */
  toolServers(): Promise<ToolServerDocument[]>;
}

/** What became of a plan that is over. */
export interface PlanRecord {
  plan: PlanDocument & { plan: Plan };
  /** Units in plan order. */
  units: StepDocument[];
  /** Outputs of completed units by key; those over 256 KiB are left out. */
  outputs: Map<string, JsonValue>;
  /** Earlier versions, newest first, at most 20. */
  earlier: Plan[];
}

/** A call of a model whose end was recorded, as a planner that needs its answer again reads it. */
export type EndedModelCall = Pick<
  ModelCallDocument,
  | "purpose"
  | "model"
  | "askDigest"
  | "answer"
  | "finishReason"
  | "inputTokens"
  | "outputTokens"
  | "cachedInputTokens"
  | "latencyMs"
  | "error"
>;

/** A claim on a request to plan. `request.planning.work` says what is to be done. Writes with a stale epoch match nothing. */
export interface PlanningClaim {
  request: RequestDocument;
  epoch: number;
  /**
   * Calls that earlier claims made and ended at this very work (the same first plan, replan, answer), those of the latest claim first, each
   * claim's in order. Only those whose answer is whole. A planner that uses an answer takes its call out.
   */
  earlierCalls: EndedModelCall[];
}

/** A plan as a planner stores it. */
export interface NewVersion {
  plan: Plan;
  /** Of the catalogue that the plan was checked against. Default: nothing is pinned. */
  toolPins?: ToolPin[] | undefined;
  /** Raw text of the answer. */
  raw: string | null;
  origin: PlanOrigin;
  diagnostics: Diagnostic[];
}

/** A model call that is about to be sent. */
export type ModelCallBegin = Pick<ModelCallDocument, "purpose" | "model" | "messages"> &
  Required<Pick<ModelCallDocument, "attempt" | "fallbackFor" | "reserved">> &
  Pick<ModelCallDocument, "askDigest">;

/** How a model call ended. */
export type ModelCallEnd = Pick<
  ModelCallDocument,
  "answer" | "finishReason" | "inputTokens" | "outputTokens" | "latencyMs" | "costUsd" | "error"
> &
  Required<Pick<ModelCallDocument, "cachedInputTokens" | "pricing">> &
  Pick<ModelCallDocument, "isAnswerWhole"> & { spent: ModelSpending };

/** What the planner needs. */
export interface PlanningStore {
  /** Claims a request that waits for a planner; null when there is nothing to do. */
  claimRequest(requestId: RequestId, owner: string): Promise<PlanningClaim | null>;
  /** What a worker holds, by the database: see `findHeldPlans`. */
  findHeldRequests(owner: string): Promise<HeldRequest[]>;
  /** Leaves requests to any planner, due now, unless they were claimed again or settled since. */
  giveUpRequests(held: readonly HeldRequest[]): Promise<void>;
  /** Requests that wait for a planner and that no planner holds, oldest first: for the sweeper. */
  findUnplanned(limit: number): Promise<RequestId[]>;
  /**
   * Stores the plan under the request's own planId and moves the request on: READY, or EXECUTING with autoExecute.
   * Planning twice cannot store two plans. @throws {LeaseLostError}
   */
  completePlanning(claim: PlanningClaim, result: NewVersion): Promise<PlanDocument>;
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
  askQuestions(
    claim: PlanningClaim,
    asked: { questions: OpenQuestion[]; draft: KeptDraft | null },
  ): Promise<void>;
  /** What became of the request's current plan; null when there is none that ever ran. */
  readPlanRecord(claim: PlanningClaim): Promise<PlanRecord | null>;
  /**
   * Stores another version of the plan and moves the request to it: READY, or EXECUTING when the wish says so. Steps that are the
   * same in both versions and that completed are carried over with their outputs and are never called again; of such a list that
   * failed, the items that completed. Replanning twice cannot store two versions. @throws {LeaseLostError}
   */
  completeReplan(claim: PlanningClaim, result: NewVersion): Promise<PlanDocument>;
  /** Ends a replan without a new version: the request is again what its plan made of it, with the error. @throws {LeaseLostError} */
  failReplan(
    claim: PlanningClaim,
    failure: { error: RecordedError; diagnostics: Diagnostic[] },
  ): Promise<void>;
  /** Stores the results in words. The status of the request stays. @throws {LeaseLostError} */
  completeAnswer(claim: PlanningClaim, answer: string): Promise<void>;
  /** Says why there are none. The status of the request stays. @throws {LeaseLostError} */
  failAnswer(claim: PlanningClaim, error: RecordedError): Promise<void>;
  /** Stores a call of the offline drafter: it takes nothing of any limit. */
  recordModelCall(call: Omit<ModelCallDocument, "_id" | "createdAt">): Promise<void>;
  /**
   * Stores a call before it is sent and sets aside what it may take, unless that would break a limit of the request: then nothing is
   * written. @throws {LeaseLostError}
   */
  beginModelCall(
    claim: PlanningClaim,
    call: ModelCallBegin,
  ): Promise<{ type: "open"; callId: string } | ({ type: "exceeded" } & LimitExceeded)>;
  /** Stores how a call ended and counts what it took. Safe to repeat; needs no lease, for what was spent is spent. */
  endModelCall(callId: string, end: ModelCallEnd): Promise<void>;
  /** As that of clients. */
  toolCatalogue(tenant?: string): Promise<ToolDescriptor[]>;
}

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

/** A plan under a claim. */
export interface HeldPlan {
  planId: PlanId;
  epoch: number;
}

/** A request under a planner's claim. */
export interface HeldRequest {
  requestId: RequestId;
  epoch: number;
}

/** What the executor needs. Step writes of all plans in the process are committed in groups. */
export interface ExecutionStore {
  /** Raises the epoch of a plan that is due and that no executor holds; null when there is nothing to do. */
  claimPlan(planId: PlanId, owner: string): Promise<PlanClaim | null>;
  /** What a worker holds, by the database: more than it works on where the answer to a claim was lost, or a run broke off. */
  findHeldPlans(owner: string): Promise<HeldPlan[]>;
  /** Leaves plans to any executor, due now, unless they were claimed again or given back since. @throws {StoreUnavailableError} */
  giveUpPlans(held: readonly HeldPlan[]): Promise<void>;
  /**
   * Takes these claims from the count of those without progress of their plans, each once however often it is said: the
   * lease was lost, and its former holder is alive, so it was not the plan that ended it. @throws {StoreUnavailableError}
   */
  noteOutlived(claims: readonly HeldPlan[]): Promise<void>;
  /** Plans that are due and that no executor holds, oldest first: for the sweeper. */
  findClaimable(limit: number): Promise<PlanId[]>;
  /** Unix milliseconds by the clock of MongoDB, carried on by this process's monotonic clock: no jump of a local clock moves it. */
  now(): number;
  /** Has the journals of plans that are held tell what clients and operators have asked since (`ClaimJournal.onControl`). @throws {StoreUnavailableError} */
  hearControls(claims: readonly PlanClaim[]): Promise<void>;
  /**
   * Brings requests in line whose plan ended while its executor died before saying so, and removes those whose acceptance was cut off before
   * their plan was stored, of which no client was told. Returns how many were brought in line.
   */
  reconcileRequests(): Promise<number>;
  /**
   * Writes intents; durable when it returns.
   * @param ends - of attempts of the same units that ended before, and were not written. Default: none
   * @throws {LeaseLostError}
   */
  writeIntents(claim: PlanClaim, intents: readonly Intent[], ends?: readonly AttemptEnd[]): Promise<void>;
  /**
   * Takes note of intents whose calls may be repeated (class R): the write of the result carries them, which spares a write.
   * `writeNoted` makes those visible whose calls take long.
   */
  noteIntents(claim: PlanClaim, intents: readonly Intent[], ends?: readonly AttemptEnd[]): void;
  /**
   * Takes note of results that may be built on before they are durable, in their order: whatever is written for the plan from now on is durable
   * behind them, or with them. Returns what `writeRecords` does; undefined, and nothing is noted, where an output has to be stored aside first.
   */
  noteRecords(
    claim: PlanClaim,
    records: readonly StepRecord[],
    ends: readonly AttemptEnd[],
  ): ReadonlyMap<string, number> | undefined;
  /** Writes what is noted. Durable when it returns. @throws {LeaseLostError} */
  writeNoted(claim: PlanClaim): Promise<void>;
  /**
   * Writes the new states of units; durable when it returns. Outputs over 32 KiB, and those that MongoDB would change, are
   * stored aside of their steps before. Returns the bytes of outputs by key: `readStoredOutputs` gives those back. @throws {LeaseLostError}
   */
  writeRecords(
    claim: PlanClaim,
    records: readonly StepRecord[],
    ends: readonly AttemptEnd[],
  ): Promise<ReadonlyMap<string, number>>;
  /** Outputs of completed units of the plan, in the order of the keys. @throws {OutputMissingError | StoreUnavailableError} */
  readStoredOutputs(claim: PlanClaim, keys: readonly string[]): Promise<StoredOutput[]>;
  /**
   * Gives the plan back: WAITING or PAUSED until `dueAtMs` (null: until there is a wish), or QUEUED to hand it over.
   * @throws {LeaseLostError}
   */
  releasePlan(
    claim: PlanClaim,
    to: { status: "WAITING" | "PAUSED"; reason: WaitReason; dueAtMs: number | null } | { status: "QUEUED" },
  ): Promise<void>;
  /**
   * The terminal write of plan and request. The last records become durable before it or with it, as `writeRecords` writes them.
   * Says whether the request waits for a planner now, to replan or to tell the results. @throws {LeaseLostError}
   */
  finishPlan(claim: PlanClaim, finish: FinishCommand, last?: LastRecords): Promise<{ isForPlanner: boolean }>;
  /** Replaces what is known of a server's tools; tools that are gone disappear. */
  publishTools(
    server: string,
    tools: readonly { descriptor: ToolDescriptor; digest: string }[],
  ): Promise<void>;
  /** Replaces what is known of the connection to a server. */
  publishServer(word: ToolServerWord): Promise<void>;
  /** Adds to what is known of tools' outputs. Not fenced: an update that is lost is learned again. */
  learnOutputs(learned: readonly LearnedOutput[]): Promise<void>;
  /** Removes servers that are no longer configured, with their tools. */
  keepOnlyServers(servers: readonly string[]): Promise<void>;
}

/** Hears of what others change. */
export interface LiveStore {
  /** Tells of changes of requests, plans and steps, whichever process makes them, until it is closed. */
  watchChanges(listener: ChangeListener): ChangeWatch;
  /**
   * Tells of those changes of requests and plans alone after which nothing may happen to a request by itself any more: a few of all that a plan
   * makes. What it tells of is to be read: not each of them is such an end.
   */
  watchRests(listener: ChangeListener): ChangeWatch;
  /**
   * Requests of these tenants by ids that a watch told, their own or those of their plans, with their current plans. Few reads, however many.
   * What is not there, or another tenant's, is left out.
   */
  readChanged(ids: readonly string[], wanted: ChangedWanted): Promise<ChangedRequest[]>;
}

/** Keeps the database from growing for ever. */
export interface RetentionStore {
  /**
   * Removes requests that ended and that nothing has changed since, with their plans, journals, outputs and model calls, the oldest first.
   * Returns how many; fewer than `limit` when there are no more.
   */
  removeEnded(which: RemoveEnded): Promise<number>;
}

/** Everything, with its life. */
export interface Store
  extends ClientStore,
    PlanningStore,
    ExecutionStore,
    LiveStore,
    AccessStore,
    RetentionStore,
    WorkerStore {
  /** Answers when MongoDB does. @throws {StoreUnavailableError} */
  ping(): Promise<void>;
  close(): Promise<void>;
}
