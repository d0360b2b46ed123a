import type { Diagnostic, Plan, PolicyInput, ToolPin } from "@planwright/plan";
import type { ModelLimits } from "../records/model-call-document.ts";
import type { PlanDocument } from "../records/plan-document.ts";
import type { GivenContext, RequestDocument, TraceOrigin } from "../records/request-document.ts";

/** A client's own name for a submission, so that sending it again does nothing twice. Good for 24 h, for one tenant. */
export interface Idempotency {
  key: string;
  /** SHA-256 of what is submitted: the key stands for nothing else. */
  payloadHash: string;
}

/** Takes on new work. */
export interface AcceptanceStore {
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
}
