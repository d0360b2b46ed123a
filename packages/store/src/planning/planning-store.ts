import type { Diagnostic, JsonValue, OpenQuestion, Plan, RequestId, ToolDescriptor } from "@planwright/plan";
import type { LeaseStore } from "../leases/lease-table.ts";
import type { RecordedError } from "../records/errors.ts";
import type { ModelCallDocument, ModelSpending } from "../records/model-call-document.ts";
import type { PlanDocument } from "../records/plan-document.ts";
import type { PlanOrigin } from "../records/plan-origin.ts";
import type { KeptDraft, RequestDocument } from "../records/request-document.ts";
import type { StepDocument } from "../records/step-document.ts";
import type { NewVersion } from "../versions/new-version.ts";
import type { LimitExceeded } from "./model-budget.ts";

/** The result of a plan that has ended. */
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

/**
 * A claim on a request to plan. `request.planning.work` says what is to be done. Writes with a stale epoch
 * match nothing.
 */
export interface PlanningClaim {
  request: RequestDocument;
  epoch: number;
  /**
   * Calls that earlier claims made and ended at this very work (the same first plan, replan, answer), those
   * of the latest claim first, each claim's in order. Only those whose answer is whole. A planner that uses
   * an answer removes its call from the list.
   */
  earlierCalls: EndedModelCall[];
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
  /** The leases of requests. */
  requestLeases: LeaseStore<RequestId>;
  /**
   * Stores the plan under the request's own planId and moves the request on: READY, or EXECUTING with
   * autoExecute. Planning twice cannot store two plans. @throws {LeaseLostError}
   */
  completePlanning(claim: PlanningClaim, result: NewVersion): Promise<PlanDocument>;
  /**
   * Ends planning without a runnable plan: the request FAILED; an INVALID plan is stored when there is
   * anything to show.
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
  /** The result of the request's current plan; null when no plan of it ever ran. */
  readPlanRecord(claim: PlanningClaim): Promise<PlanRecord | null>;
  /**
   * Stores another version of the plan and moves the request to it: READY, or EXECUTING when the replan asks
   * for that. Steps that are the same in both versions and that completed are carried over with their outputs
   * and are never called again; of such a list that failed, the items that completed. Replanning twice cannot
   * store two versions. @throws {LeaseLostError | EntryTooLargeError} after the second the claim holds, and
   * nothing was stored
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
  /** Stores the results in words. The status of the request stays. @throws {LeaseLostError} */
  completeAnswer(claim: PlanningClaim, answer: string): Promise<void>;
  /** Says why there are none. The status of the request stays. @throws {LeaseLostError} */
  failAnswer(claim: PlanningClaim, error: RecordedError): Promise<void>;
  /** Stores a call of the offline drafter: it takes nothing of any limit. */
  recordModelCall(call: Omit<ModelCallDocument, "_id" | "createdAt">): Promise<void>;
  /**
   * Stores a call before it is sent and reserves what it may spend, unless that would exceed a limit of the
   * request: then nothing is written. @throws {LeaseLostError}
   */
  beginModelCall(
    claim: PlanningClaim,
    call: ModelCallBegin,
  ): Promise<{ type: "open"; callId: string } | ({ type: "exceeded" } & LimitExceeded)>;
  /**
   * Stores how a call ended and counts what it took. Safe to repeat; needs no lease, for what was spent is
   * spent.
   */
  endModelCall(callId: string, end: ModelCallEnd): Promise<void>;
  /** As that of clients. */
  toolCatalogue(tenant?: string): Promise<ToolDescriptor[]>;
}
