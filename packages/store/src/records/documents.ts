/** Shapes of the documents in MongoDB. Dates are set by the server (`$$NOW`) wherever something is decided by them. */
import type { Command, JournalEntry, Resolution, StepError } from "@planwright/engine";
import type {
  Diagnostic,
  EffectClass,
  GapValue,
  JsonObject,
  JsonValue,
  OpenQuestion,
  OutputText,
  Plan,
  PlanId,
  PlanStatus,
  PolicyInput,
  RequestId,
  RequestStatus,
  StepStatus,
  ToolDescriptor,
  ToolPin,
  WaitReason,
} from "@planwright/plan";
import type { Binary } from "mongodb";
import type { Scope } from "./scope.ts";

/** The worker that may write, and the number that proves it (fencing token). */
export interface Lease {
  /** Names the worker. */
  owner: string;
  /** Raised by one with each claim. */
  epoch: number;
}

/** What clients may read of a failure. */
export interface RecordedError {
  code: string;
  message: string;
}

/** What a planner does for a request: its first plan, another version after a failure, or an answer in words. */
export type PlanningWork = "plan" | "replan" | "answer";

/** What a replan is made with. */
export interface ReplanWish {
  /** What the user says is to be done differently; null without a word. */
  note: string | null;
  /** Start executing as soon as the new version is stored. */
  execute: boolean;
}

/** Most that the model calls of one request may take together; null: no limit. */
export interface ModelLimits {
  maxModelCalls: number | null;
  /** Of prompts and answers. */
  maxTokens: number | null;
  maxCostUsd: number | null;
}

/** What model calls took, or may take. */
export interface ModelSpending {
  modelCalls: number;
  tokens: number;
  /** Of models whose price is known. */
  costUsd: number;
}

/** Time, place and facts that the caller of a request gave. */
export interface GivenContext {
  now?: Date;
  /** IANA name. */
  timezone?: string;
  /** BCP 47, in its usual spelling. */
  locale?: string;
  /** Its own data, at most 16 KiB as JSON. */
  facts?: JsonObject;
}

/** Where a request stands with its limits. */
export interface ModelUse {
  /** By calls that have ended. */
  spent: ModelSpending;
  /** For calls under way, and for calls whose planner died: it is unknown what those took. */
  reserved: ModelSpending;
}

/** A place in a trace, as W3C Trace Context writes it. */
export interface TraceOrigin {
  traceparent: string;
  tracestate?: string;
}

/** What a user asked, and the current state of it. */
export interface RequestDocument {
  _id: RequestId;
  tenant: string;
  /** `query`: a sentence to plan; `plan`: a plan given as JSON. */
  source: "query" | "plan";
  /** The sentence; null when a plan was submitted without one. */
  query: string | null;
  /** Tags by which the client finds the request again, without duplicates. Absent: none. */
  tags?: string[];
  status: RequestStatus;
  /** The current version's plan; of the first one fixed when the request is accepted, so planning twice cannot make two plans. */
  planId: PlanId;
  /** Version of the current plan, from 1. */
  version: number;
  /** Start executing as soon as a valid plan is stored. */
  autoExecute: boolean;
  planning: {
    lease: Lease | null;
    /** Highest epoch ever given; survives a release of the lease. */
    epoch: number;
    /** From when on a planner may claim the request; null while one holds it, or when there is nothing to do. */
    dueAt: Date | null;
    /** Claims made so far: a request that kills its planner is ended after 5. */
    claims: number;
    startedAt: Date | null;
    finishedAt: Date | null;
    /** What a planner is to do, or did last. Absent or null: the first plan. */
    work?: PlanningWork | null;
    /** Who held the request at its last claim without having given it back; null, or absent, when it was free. */
    takenFrom?: string | null;
  };
  /** Plans made anew under this request: how many at most without being asked for, and how many so far. Absent: none. */
  replans?: { max: number; made: number };
  /** What the replan under way is made with. Null, or absent: there is none. */
  replan?: ReplanWish | null;
  /** True when results are to be told in words at the end. Absent: false. */
  wantsAnswer?: boolean;
  /** The results in words. Null, or absent: not yet, or not asked for. */
  answer?: string | null;
  /** Why there is no answer, though one was asked for. */
  answerError?: RecordedError | null;
  /** What the caller gave of it. Absent: nothing; `contextOf` adds the defaults. */
  context?: GivenContext;
  /** What the caller wants of the plan's policy, its profile included. Absent: nothing. */
  policy?: PolicyInput;
  /** Absent: no limits. */
  modelLimits?: ModelLimits;
  /** Absent: no call was made. */
  modelUse?: ModelUse;
  /** The entry that it follows. Absent: none. */
  modelUseSeq?: number;
  /** The trace in which the request was accepted; everything done for it continues that trace. Absent: it was not traced. */
  trace?: TraceOrigin;
  /** Why planning failed: of the plan, or of the last replan. */
  error: RecordedError | null;
  diagnostics: Diagnostic[];
  /** What the planner needs to know, when NEEDS_INPUT. */
  questions: OpenQuestion[];
  /** How many questions it was ever asked: they are numbered by it. Absent: none. */
  questionsAsked?: number;
  /** What the user answered, oldest first. */
  answers: GivenAnswer[];
  /** The draft for which questions were asked: planning continues with it once they are answered. Null, or absent: there is none. */
  draft?: KeptDraft | null;
  /** The client's own name for the submission, as SHA-256, and the SHA-256 of what it stands for. Absent or null: none, or not any more. */
  idempotency?: { key: string; payloadHash: string } | null;
  /** Names the last grouped write. */
  writeId: string | null;
  createdAt: Date;
  updatedAt: Date;
}

/** An answer of the user. */
export interface GivenAnswer {
  /** Of the question, which is asked no more. */
  questionId: string;
  question: string;
  /** As it was given; of a value, its JSON text. */
  answer: string;
  at: Date;
  /** The argument that was asked about, and its value; null for an answer that only a model can read. */
  gives: GapValue | null;
}

/** A draft that waits for answers. */
export interface KeptDraft {
  /** JSON text of a `DraftWithGaps`. */
  text: string;
  /** Who drafted it. */
  origin: PlanOrigin;
  /** The questions whose answers go into it. */
  questionIds: string[];
}

/** Who made a plan. */
export interface PlanOrigin {
  kind: "model" | "offline" | "submitted";
  /** Name of the model, such as "openai:gpt-4o"; null without one. */
  model: string | null;
}

/** A call that may have happened, and is no second one under its key. */
export interface UnansweredCall {
  /** Of the step or item. */
  key: string;
  /** The plan in whose name it was sent. */
  planId: PlanId;
  /** SHA-256 of its arguments, as they were sent. */
  argsHash: string;
}

/** What follows when a plan has ended. */
export interface PlanFollowUp {
  /** Replans that may follow a failure without being asked for. */
  maxReplans: number;
  /** Replans made when the plan was stored. */
  replans: number;
  /** Tell the results in words. */
  answer: boolean;
}

/** An operator's decision on one step that needs approval. */
export interface PlanApproval {
  stepId: string;
  approved: boolean;
  /** Of the step, as it was shown: only what it stands for may be called. */
  approvalHash: string;
  /** For people; null without one. */
  reason: string | null;
  by: string;
  at: Date;
}

/** An operator's decision on one unit in doubt, for exactly the attempt that is in doubt. */
export interface UnitResolution {
  key: string;
  attempt: number;
  resolution: Resolution;
  by: string;
  at: Date;
}

/** One immutable plan and its current state. */
export interface PlanDocument {
  _id: PlanId;
  requestId: RequestId;
  tenant: string;
  version: number;
  /** The canonical plan; null when what was given could not be read as one (INVALID). */
  plan: Plan | null;
  /** The plan's tools as they were when it was made; absent for plans that were stored without. */
  toolPins?: ToolPin[];
  /** Raw text of the model's answer or of the submission, at most 1 MiB. */
  raw: string | null;
  origin: PlanOrigin;
  diagnostics: Diagnostic[];
  status: PlanStatus;
  lease: Lease | null;
  /** Highest epoch ever given; survives a release of the lease. */
  epoch: number;
  /** Claims since the last progress, without those whose owners outlived their lease. */
  claimsWithoutProgress: number;
  /** Highest epoch whose owner has said that it outlived its lease. */
  outlivedEpoch?: number;
  /**
   * From when on an executor may claim the plan: QUEUED: when it was queued; RUNNING: when its owner was found dead; WAITING: when its reason
   * may be gone; WAITING for people and PAUSED: at its deadline; null: while an executor holds it, and never by itself.
   */
  dueAt: Date | null;
  /** Finished units at the last claim: a claim that finds more has seen progress. */
  progressSeen: number;
  waitReason: WaitReason | null;
  /** True for a plan that was submitted to run at once, or not started yet: until its first claim nothing is told of it, and nothing need be read. */
  isFresh: boolean;
  /** What people can do for it: for units that wait for approval, or are in doubt. Absent: nothing yet. */
  needs?: ("approval" | "doubt")[];
  /** Items of its lists, as far as they are known. Absent: none. */
  items?: number;
  /** The entry of the latest control: by it the executor that holds the plan sees that there is something new. 0: none yet. */
  controlSeq: number;
  /** The time of the control that said so, as the two below: what controls say stands in the journal. */
  cancelRequestedAt: Date | null;
  /** Set while the plan is to be paused. */
  pauseRequestedAt: Date | null;
  deadlineAt: Date | null;
  /** Steps by status, when the plan has ended; before that they are counted from the steps. */
  counts: { [status in StepStatus]?: number } | null;
  outputs: { [stepId: string]: JsonValue } | null;
  error: StepError | null;
  /** Who held the plan at its last claim without having given it back; null, or absent, when it was free. */
  takenFrom?: string | null;
  /** What the end of this plan leads to; fixed when it is stored. Absent: nothing. */
  followUp?: PlanFollowUp;
  /** That of its request. */
  trace?: TraceOrigin;
  /** Names the last grouped write. */
  writeId: string | null;
  createdAt: Date;
  queuedAt: Date | null;
  startedAt: Date | null;
  finishedAt: Date | null;
  updatedAt: Date;
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
  /** Nothing was sent, since the server could not be reached: all such tries in a row are one attempt. Absent: the call was sent. */
  unsent?: {
    /** From 1. */
    tries: number;
    /** When the first of them ended. */
    since: Date;
  };
}

/** Refers to an output that is stored separately. */
export interface OutputRef {
  /** Of its first document. */
  id: string;
  /** As JSON text in UTF-8, in bytes. */
  sizeBytes: number;
  /** Documents that it takes. */
  parts: number;
  /** The beginning of the text, at most 1 KiB. Absent: it was stored without. */
  preview?: string | undefined;
  /** The text is the tool's own, not ours. */
  isOwnText?: true | undefined;
}

/** What is kept of arguments over 32 KiB, or that MongoDB would change. */
export interface ArgumentsPreview {
  /** As JSON text in UTF-8, in bytes. */
  sizeBytes: number;
  /** The beginning of the JSON text, at most 1 KiB. */
  text: string;
}

/** One step, or one item of a forEach, of one plan, as the journal of its request tells it. `_id` is `{planId}/{key}`. */
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
   * Resolved arguments of the latest attempt, or those to be approved (of a forEach `{calls: {key: arguments}}`); null for those
   * that are too large to be kept.
   */
  arguments: JsonObject | null;
  /** What is kept of arguments that are too large. */
  argumentsPreview: ArgumentsPreview | null;
  /** SHA-256 of the arguments as they are sent. */
  argsHash: string | null;
  /** Null when it is stored separately. */
  output: JsonValue;
  outputRef: OutputRef | null;
  /** How the tool wrote the output as JSON text; absent where it did not, or where that text is stored separately. */
  outputText?: OutputText;
  error: StepError | null;
  warnings: string[];
  waitReason: WaitReason | null;
  /** True once an operator approved the call. */
  approved: boolean;
  /** Hash of what is to be approved, or was: plan, step, resolved arguments, tool. Null until an approval has to be asked for. */
  approvalHash: string | null;
  /** The plan that executed it, for a unit that a new version carried over; null for one that is this plan's own. */
  carriedFrom: PlanId | null;
  /**
   * Calls that earlier versions of the plan sent with an idempotency key and got no answer to, its items' included: sent again
   * with the same arguments they bear the same key. Absent: none.
   */
  unansweredCalls?: UnansweredCall[];
  /** True from the first call of a tool with side effects that is sent until an answer settles it. Absent: it was never sent. */
  mayHaveActed?: boolean;
  /** Who settled a doubt after the plan had ended, or in the version that it was carried over from, and how. */
  resolvedBy?: { by: string; resolution: Resolution["type"] };
  nextAttemptAt: Date | null;
  startedAt: Date | null;
  finishedAt: Date | null;
  /** From the start of the first attempt to the end of the last, in milliseconds. */
  durationMs: number | null;
  updatedAt: Date;
}

/**
 * An output that is stored separately, or a part of one. `_id` is `{planId}/{key}@{epoch}`, for further parts with `#1`
 * and so on. Never changed once it is written.
 */
export interface OutputDocument {
  _id: string;
  tenant: string;
  planId: PlanId;
  /** Of the owner who wrote it. */
  epoch: number;
  /** JSON text. */
  text: string;
}

/** One call of a chat model, failed tries included, with everything needed to see why a plan looks as it does. */
export interface ModelCallDocument {
  _id: string;
  requestId: RequestId;
  tenant: string;
  purpose: "draft" | "repair" | "fast-path" | "replan" | "answer";
  /** "provider:model", or "offline". */
  model: string;
  messages: { role: string; content: string }[];
  answer: string;
  finishReason: string | null;
  inputTokens: number | null;
  outputTokens: number | null;
  /** Those of `inputTokens` that the provider had from an earlier call. */
  cachedInputTokens?: number | null;
  latencyMs: number;
  /** Null when the price of the model is not known. */
  costUsd: number | null;
  /** What `costUsd` rests on: tokens as the provider counted them, our estimate, or no price at all. Absent: no call of a model. */
  pricing?: "priced" | "estimated" | "unpriced";
  /** Try of this model for the same answer, from 1. */
  attempt?: number;
  /** Code of the failure for which the fallback model was asked; null for the first model. */
  fallbackFor?: string | null;
  /** Planning epoch of the claim that made the call. Absent: no call of a model. */
  epoch?: number;
  /** SHA-256 of all that was asked, as it is kept: equal for the same question. Absent: no call of a model. */
  askDigest?: string;
  /** What was reserved before the call. */
  reserved?: ModelSpending;
  /** What the call counts for; null until it has ended. */
  spent?: ModelSpending | null;
  error: RecordedError | null;
  createdAt: Date;
  /** True when `answer` is word for word what came: nothing was redacted or cut. Absent: unknown. */
  isAnswerWhole?: boolean;
  /** Null while the call is under way, and for good when its planner died. Absent: it was written when it had ended. */
  endedAt?: Date | null;
}

/** One tool as an executor last saw it. `_id` is `{server}/{tool}`. */
export interface ToolDocument {
  _id: string;
  server: string;
  descriptor: ToolDescriptor;
  /** SHA-256 of the canonical descriptor. */
  digest: string;
  updatedAt: Date;
}

/** Where an executor's connection to a tool server stands. `_id` is the server's name: the latest report of any executor counts. */
export interface ToolServerDocument {
  _id: string;
  server: string;
  /** `connecting`: for the first time; `unreachable`: it did not come up, or is gone, and is tried again. */
  state: "connected" | "connecting" | "unreachable";
  /** How many tools it offered last. */
  tools: number;
  /** Why it is unreachable, as shown to clients. */
  error: string | null;
  /** What its process wrote last to its standard error, without secrets that are known; for operators alone. */
  lastWords: string | null;
  /** Since when it is connected, or is not. */
  since: Date;
  nextAttemptAt: Date | null;
  /** Whose connection it is. */
  executor: string;
  updatedAt: Date;
}

/** What one tenant's runs have shown of the outputs of one tool, as long as the tool's descriptor is the same. `_id` is `{tenant}/{server}/{digest}`. */
export interface ObservedOutputDocument {
  _id: string;
  tenant: string;
  server: string;
  /** SHA-256 of the canonical descriptor: a changed tool starts again without shapes. */
  digest: string;
  /** The server's own name for the tool. */
  tool: string;
  /** An `OutputShape` as JSON text, at most 12 KiB: its names are no names of this database. */
  shape: string;
  seenAt: Date;
}

/** The writes that follow from an entry and cannot be derived from it, until they are done. Mostly there is none. `_id` is the entry's `writeId`. */
export interface OutboxDocument {
  _id: string;
  requestId: string;
  /** The writes as BSON, `{following: [..]}`: see `Following`. */
  writes: Uint8Array | Binary;
  createdAt: Date;
}

/** A request that is being removed, until all of it is gone. */
export interface RemovalDocument {
  _id: RequestId;
  tenant: string;
}

/** How a plan ended, as the engine said it. */
export type FinishCommand = Omit<Extract<Command, { type: "finish" }>, "records">;

/** What a worker process does. */
export type WorkerKind = "planner" | "executor";

/** A process that takes work, and its heartbeat. */
export interface WorkerDocument {
  /** Names the process, also in the leases that it takes. */
  _id: string;
  kind: WorkerKind;
  /** Whether a planner has a language model; null where it does not say. */
  hasModel: boolean | null;
  /** The address at which it listens, which no other process has while it lives; null where that is not known. */
  place: string | null;
  /** Silence after which it may be declared dead, in milliseconds. */
  deadAfterMs: number;
  /** False once it is stopping. */
  takesWork: boolean;
  startedAt: Date;
  /** Its last heartbeat, by the clock of MongoDB. */
  seenAt: Date;
  /** When it was declared dead; null while it lives. A worker does not come back to life. */
  deadAt: Date | null;
}

/** A key as it is stored: who it speaks for, and never the key itself. */
export interface ApiKeyDocument {
  /** "key_" and 16 of a-z 2-7: names the key without being one. */
  _id: string;
  /** SHA-256 of the key, in hex. With 256 random bits there is nothing to guess that a slow hash would protect. */
  hash: string;
  tenant: string;
  name: string;
  scopes: Scope[];
  createdAt: Date;
  /** To the minute; null until it was used. */
  lastUsedAt: Date | null;
  expiresAt: Date | null;
  revokedAt: Date | null;
}

/** An entry as it is stored: named by its place, which can be taken once. */
export interface JournalDocument extends JournalEntry {
  /** `{requestId}/{seq}` */
  _id: string;
}
