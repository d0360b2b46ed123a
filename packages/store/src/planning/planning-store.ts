import type { StepRun } from "@planwright/engine";
import type {
  Diagnostic,
  JsonValue,
  LeftOutTool,
  OpenQuestion,
  Plan,
  RequestId,
  ToolDescriptor,
} from "@planwright/plan";
import type { LeaseStore } from "../leases/lease-table.ts";
import type { RecordedError } from "../records/errors.ts";
import type { ModelCallDocument, ModelSpending } from "../records/model-call-document.ts";
import type { PlanDocument } from "../records/plan-document.ts";
import type { PlanOrigin } from "../records/plan-origin.ts";
import type { KeptDraft, ModelWait, RequestDocument } from "../records/request-document.ts";
import type { ContractAnswer, ContractAsk } from "../records/tool-documents.ts";
import type { NewVersion } from "../versions/new-version.ts";
import type { LimitExceeded } from "./model-budget.ts";

/** The result of a plan that has ended. */
export interface PlanRecord {
  plan: PlanDocument & { plan: Plan };
  /** Units in plan order. */
  units: StepRun[];
  /** Outputs of completed units by key; those over 256 KiB are left out. */
  outputs: Map<string, JsonValue>;
  /** Earlier versions, newest first, at most 20. */
  earlier: Plan[];
}

/** A model call whose end was recorded, for a planner that needs its answer again. */
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

/**
 * A claim on a request to plan. `request.planning.work` is the work to do. Writes with a stale epoch match
 * nothing.
 */
export interface PlanningClaim {
  request: RequestDocument;
  epoch: number;
  /**
   * Ended calls of earlier claims of the same work (the same first plan, replan or answer). Calls of the
   * latest claim come first; calls of one claim are in order. Only calls with a complete answer. A planner
   * that uses an answer removes its call from the list.
   */
  earlierCalls: EndedModelCall[];
}

/** A model call that is about to be sent. */
export type ModelCallBegin = Pick<ModelCallDocument, "model" | "messages"> & {
  purpose: Exclude<ModelCallDocument["purpose"], "contracts">;
} & Required<Pick<ModelCallDocument, "attempt" | "fallbackFor" | "reserved">> &
  Pick<ModelCallDocument, "askDigest">;

/** A model that cannot be reached, and how long to wait for it. */
export interface ModelAway {
  error: RecordedError;
  /** Wait before the next try, in milliseconds. @param tries - number of such waits in a row, from 1 */
  pauseMs: (tries: number) => number;
  /** Wait that the provider asked for, in milliseconds: a shorter one is useless. */
  requestedMs: number;
  /** How long the model may be away before planning fails, in milliseconds. */
  unreachableMs: number;
}

/** How a model call ended. */
export type ModelCallEnd = Pick<
  ModelCallDocument,
  "answer" | "finishReason" | "inputTokens" | "outputTokens" | "latencyMs" | "costUsd" | "error"
> &
  Required<Pick<ModelCallDocument, "cachedInputTokens" | "pricing">> &
  Pick<ModelCallDocument, "isAnswerComplete"> & { spent: ModelSpending };

/** The operations that the planner needs. */
export interface PlanningStore {
  /** Claims a request that waits for a planner; null when there is nothing to do. */
  claimRequest(requestId: RequestId, owner: string): Promise<PlanningClaim | null>;
  /** The leases of requests. */
  requestLeases: LeaseStore<RequestId>;
  /**
   * Stores the plan under the request's planId, and sets the request to READY, or EXECUTING with autoExecute.
   * Planning twice cannot store two plans. @throws {LeaseLostError}
   */
  completePlanning(claim: PlanningClaim, result: NewVersion): Promise<PlanDocument>;
  /**
   * Ends planning without a runnable plan: the request FAILED; an INVALID plan is stored if there is a plan
   * or raw text.
   * @throws {LeaseLostError}
   */
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
  /** The result of the request's current plan; null when there is no valid plan. */
  readPlanRecord(claim: PlanningClaim): Promise<PlanRecord | null>;
  /**
   * Stores another version of the plan and moves the request to it: READY, or EXECUTING when the replan asks
   * for that. Completed steps that are the same in both versions are carried over with their outputs and are
   * never called again. Of a failed list that is the same in both, the completed items are carried over.
   * Replanning twice cannot store two versions. @throws {LeaseLostError | EntryTooLargeError} after the
   * second the claim is still valid, and nothing was stored
   */
  completeReplan(claim: PlanningClaim, result: NewVersion): Promise<PlanDocument>;
  /**
   * Ends a replan without a new version: the request gets the status that its plan ended with, and the error.
   * @throws {LeaseLostError}
   */
  failReplan(
    claim: PlanningClaim,
    failure: { error: RecordedError; diagnostics: Diagnostic[] },
  ): Promise<void>;
  /** Stores the answer in words. The status of the request is kept. @throws {LeaseLostError} */
  completeAnswer(claim: PlanningClaim, answer: string): Promise<void>;
  /** Stores why there is no answer. The status of the request is kept. @throws {LeaseLostError} */
  failAnswer(claim: PlanningClaim, error: RecordedError): Promise<void>;
  /**
   * Releases a request whose model is away, until a planner has to try again. Null, and nothing is changed,
   * when the model has been away for too long. @throws {LeaseLostError}
   */
  postponePlanning(claim: PlanningClaim, away: ModelAway): Promise<ModelWait | null>;
  /** Stores a call of the offline drafter. It does not count towards any limit. */
  recordModelCall(call: Omit<ModelCallDocument, "_id" | "createdAt">): Promise<void>;
  /**
   * Stores a call before it is sent and reserves its maximum, unless that would exceed a limit of the
   * request: then nothing is written. @throws {LeaseLostError}
   */
  beginModelCall(
    claim: PlanningClaim,
    call: ModelCallBegin,
  ): Promise<{ type: "open"; callId: string } | ({ type: "exceeded" } & LimitExceeded)>;
  /**
   * Stores the end of a call and counts its costs. Safe to repeat. Needs no lease, because the costs are
   * real.
   */
  endModelCall(callId: string, end: ModelCallEnd): Promise<void>;
  /** The same catalogue as that of clients. */
  toolCatalogue(tenant?: string): Promise<ToolDescriptor[]>;
  /** The same left-out tools as those of clients. */
  leftOutTools(): Promise<LeftOutTool[]>;
}

/** What a planner needs to answer questions about the contracts of a server's tools. */
export interface ContractAskStore {
  /** Takes an open question for this planner; null without any. */
  takeContractAsk(planner: string): Promise<{ server: string; ask: ContractAsk } | null>;
  /** Stores the answer to a question that this planner took, unless a newer question has replaced it. */
  answerContracts(
    taken: { server: string; ask: Pick<ContractAsk, "id"> },
    answer: ContractAnswer,
  ): Promise<void>;
  /** Stores a call for a question before it is sent. It belongs to no request and to no journal. */
  beginContractCall(
    ask: ContractAsk,
    call: Omit<ModelCallBegin, "purpose">,
  ): Promise<{ type: "open"; callId: string }>;
  /** Stores the end of such a call. */
  endContractCall(callId: string, end: ModelCallEnd): Promise<void>;
}
