import type {
  Diagnostic,
  GapValue,
  JsonObject,
  OpenQuestion,
  PlanId,
  PolicyInput,
  RequestId,
  RequestStatus,
} from "@planwright/plan";
import type { RecordedError } from "./errors.ts";
import type { Leased } from "./leased.ts";
import type { ModelLimits, ModelUse } from "./model-call-document.ts";
import type { PlanOrigin } from "./plan-origin.ts";

/**
 * What a planner does for a request: its first plan, another version after a failure, or an answer in words.
 */
export type PlanningWork = "plan" | "replan" | "answer";

/** What a replan is made with. */
export interface ReplanOptions {
  /** What the user says is to be done differently; null without a word. */
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
  /** Its own data, at most 16 KiB as JSON. */
  facts?: JsonObject;
}

/** A place in a trace, as W3C Trace Context writes it. */
export interface TraceOrigin {
  traceparent: string;
  tracestate?: string;
}

/**
 * What a user asked, and the current state of it. Here and in all documents, times that decide something are
 * set by the server (`$$NOW`).
 */
export interface RequestDocument extends Leased {
  _id: RequestId;
  tenant: string;
  /** `query`: a sentence to plan; `plan`: a plan given as JSON. */
  source: "query" | "plan";
  /** The sentence; null when a plan was submitted without one. */
  query: string | null;
  /** Tags by which the client finds the request again, without duplicates. Absent: none. */
  tags?: string[];
  status: RequestStatus;
  /**
   * The current version's plan; of the first one fixed when the request is accepted, so planning twice cannot
   * make two plans.
   */
  planId: PlanId;
  /** Version of the current plan, from 1. */
  version: number;
  /** Start executing as soon as a valid plan is stored. */
  autoExecute: boolean;
  /** The work of planners; the lease of the request is theirs. */
  planning: {
    /**
     * Claims of the current work so far, also those whose owners survived: answers of models to the earlier
     * ones are used again.
     */
    claimsOfWork: number;
    startedAt: Date | null;
    finishedAt: Date | null;
    /** What a planner is to do, or did last. Absent or null: the first plan. */
    work?: PlanningWork | null;
  };
  /**
   * Plans made anew under this request: how many at most without being asked for, and how many so far.
   * Absent: none.
   */
  replans?: { max: number; made: number };
  /** What the replan under way is made with. Null, or absent: there is none. */
  replan?: ReplanOptions | null;
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
  /**
   * The trace in which the request was accepted; everything done for it continues that trace. Absent: it was
   * not traced.
   */
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
  /**
   * The draft for which questions were asked: planning continues with it once they are answered. Null, or
   * absent: there is none.
   */
  draft?: KeptDraft | null;
  /**
   * The client's own name for the submission, as SHA-256, and the SHA-256 of what it stands for. Absent or
   * null: none, or not any more.
   */
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

/** A request that is being removed, until all of it is gone. */
export interface RemovalDocument {
  _id: RequestId;
  tenant: string;
}
