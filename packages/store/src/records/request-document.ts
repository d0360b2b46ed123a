import type { JournalEntry } from "@planwright/engine";
import type {
  Diagnostic,
  GapValue,
  JsonObject,
  OpenQuestion,
  PlanId,
  PlanningContext,
  PolicyInput,
  Priority,
  RequestId,
  RequestStatus,
} from "@planwright/plan";
import type { RecordedError } from "./errors.ts";
import type { ModelLimits, ModelUse } from "./model-call-document.ts";

/** Work of a planner for a request: its first plan, another version after a failure, or an answer in words. */
export type PlanningWork = "plan" | "replan" | "answer";

/** A wait for a model that is away. */
export interface ModelWait {
  /** Why the last call failed. */
  error: RecordedError;
  /** When the first call without an answer failed. */
  since: Date;
  /** How often the request was released since then. */
  tries: number;
  /** When a planner tries again. */
  nextAttemptAt: Date;
  /** The latest time for another try; after it planning fails. */
  until: Date;
}

/** Options of a replan. */
export interface ReplanOptions {
  /** The user's note on what to change; null without one. */
  note: string | null;
  /** Start executing as soon as the new version is stored. */
  execute: boolean;
}

/** Time, place and facts that the caller of a request gave. */
export interface GivenContext {
  now?: Date;
  /** IANA name. */
  timezone?: string;
  /** BCP 47, in its usual spelling. */
  locale?: string;
  /** The caller's own data, at most 16 KiB as JSON. */
  facts?: JsonObject;
}

/** A parent span, in the form of W3C Trace Context. */
export interface TraceOrigin {
  traceparent: string;
  tracestate?: string;
}

/** What a user asked, and its state. Times that decisions depend on are the server's, in all documents. */
export interface RequestDocument extends Leased {
  _id: RequestId;
  tenant: string;
  /** `query`: a sentence to plan; `plan`: a plan given as JSON. */
  source: "query" | "plan";
  /** The sentence; null when a plan was submitted without one. */
  query: string | null;
  /** Tags to find the request by, without duplicates. Absent: none. */
  tags?: string[];
  /** Its place among the waiting work of its tenant. Absent: normal. */
  priority?: Priority;
  status: RequestStatus;
  /** The plan of the current version. The first id is fixed at acceptance: planning twice makes one plan. */
  planId: PlanId;
  /** Version of the current plan, from 1. */
  version: number;
  /** Start executing as soon as a valid plan is stored. */
  autoExecute: boolean;
  /**
   * When it was restored from a backup that has no plan for it, or not the next one: orders to execute the plan that
   * are older do not count. Absent: never.
   */
  restoredAt?: Date;
  /** The work of planners. The lease of the request belongs to its planner. */
  planning: {
    /** Number of claims of this work, also survived ones: the current claim can use their models' answers. */
    claimsOfWork: number;
    startedAt: Date | null;
    finishedAt: Date | null;
    /** The current or last work of a planner. Absent or null: the first plan. */
    work?: PlanningWork | null;
    /** The wait for a model that is away. Null or absent: it answered the last call, or was not called. */
    wait?: ModelWait | null;
  };
  /** Replans of this request: maximum number of automatic ones, and number of all so far. Absent: none. */
  replans?: { max: number; made: number };
  /** Options of the current replan. Null or absent: there is none. */
  replan?: ReplanOptions | null;
  /** True when an answer in words is to be written at the end. Absent: false. */
  wantsAnswer?: boolean;
  /** The answer in words. Null or absent: not yet written, or not wanted. */
  answer?: string | null;
  /** Why there is no answer although one is wanted. */
  answerError?: RecordedError | null;
  /** Context from the caller. Absent: none; `contextOf` adds the defaults. */
  context?: GivenContext;
  /** The caller's settings of the plan's policy, with its profile. Absent: none. */
  policy?: PolicyInput;
  /** Absent: no limits. */
  modelLimits?: ModelLimits;
  /** Absent: no call was made. */
  modelUse?: ModelUse;
  /** Seq of the entry that `modelUse` follows. Absent: none. */
  modelUseSeq?: number;
  /** The trace in which the request was accepted; all its work continues that trace. Absent: not traced. */
  trace?: TraceOrigin;
  /** Why planning failed: the first plan, or the last replan. */
  error: RecordedError | null;
  diagnostics: Diagnostic[];
  /** Open questions of the planner, when NEEDS_INPUT. */
  questions: OpenQuestion[];
  /** Number of all questions so far, for the numbering of new ones. Absent: none. */
  questionsAsked?: number;
  /** Answers of the user, oldest first. */
  answers: GivenAnswer[];
  /** The draft that the questions are about, with which planning continues. Null or absent: none. */
  draft?: KeptDraft | null;
  /** SHA-256 of the idempotency key, and SHA-256 of the submission. Absent or null: no key, or it has expired. */
  idempotency?: { key: string; payloadHash: string } | null;
  /** Id of the last grouped write. */
  writeId: string | null;
  createdAt: Date;
  updatedAt: Date;
}

/** An answer of the user. */
export interface GivenAnswer {
  /** Id of the question, which is no longer open. */
  questionId: string;
  question: string;
  /** The answer as it was given; a value as JSON text. */
  answer: string;
  at: Date;
  /** The argument that the question was about, and its value; null for an answer that only a model can read. */
  gives: GapValue | null;
}

/** A draft that waits for answers. */
export interface KeptDraft {
  /** JSON text of a `DraftWithGaps`. */
  text: string;
  /** The author of the draft. */
  origin: PlanOrigin;
  /** Ids of the questions whose answers complete the draft. */
  questionIds: string[];
}

/** A request that is being removed; deleted when all its records are removed. */
export interface RemovalDocument {
  _id: RequestId;
  tenant: string;
}

/** The worker that may write, and its fencing token. */
export interface Lease {
  /** Id of the worker. */
  owner: string;
  /** Fencing token: raised by one with each claim. */
  epoch: number;
}

/** Fields of work that one worker at a time owns: a request for a planner, or a plan for an executor. */
export interface Leased {
  lease: Lease | null;
  /** Highest epoch so far; kept when the lease is released. */
  epoch: number;
  /** Time from which a worker may claim it; null while a worker holds it, or when there is nothing to do. */
  dueAt: Date | null;
  /** Claims since the last progress, without survived ones: work that kills its workers is ended. */
  claims: number;
  /** Highest epoch whose owner reported that it survived the loss of its lease. Absent: none. */
  survivedEpoch?: number;
  /** The previous owner, if it had not released the lease at the last claim; otherwise null or absent. */
  takenFrom?: string | null;
  /** The least format of the database whose programs can do this work: others do not claim it. Absent: any. */
  minFormat?: number;
}

/** The author of a plan. */
export interface PlanOrigin {
  kind: "model" | "offline" | "submitted";
  /** Name of the model, such as "openai:gpt-4o"; null without one. */
  model: string | null;
}

/** Time and place for all work of a request: from its caller, otherwise the time when it was accepted, in UTC. */
export function contextOf({
  context = {},
  createdAt,
}: Pick<RequestDocument, "context" | "createdAt">): PlanningContext {
  const { now = createdAt, timezone = "UTC", locale = null, facts = {} } = context;
  return { now, timezone, locale, facts };
}

/** An entry as it is stored. Its id contains its seq, so each seq can be taken once. */
export interface JournalDocument extends JournalEntry {
  /** `{requestId}/{seq}` */
  _id: string;
}

/** The kind of a worker process. */
export type WorkerKind = "planner" | "executor";

/** A worker process and its heartbeat. */
export interface WorkerDocument {
  /** Id of the process, also in its leases. */
  _id: string;
  kind: WorkerKind;
  /** Whether a planner has a language model; null when unknown. */
  hasModel: boolean | null;
  /** The address at which it listens, which no other process has at the same time; null when unknown. */
  addressKey: string | null;
  /** Time without a heartbeat after which it may be declared dead, in milliseconds. */
  deadAfterMs: number;
  /** False once it is stopping. */
  takesWork: boolean;
  startedAt: Date;
  /** Time of the last heartbeat, by the clock of MongoDB. */
  seenAt: Date;
  /** Time when it was declared dead; null while it lives. A dead worker stays dead. */
  deadAt: Date | null;
  /** Number of plans or requests that were taken from it after its death. Absent: none. */
  leasesLost?: number;
}
