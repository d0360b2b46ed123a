import type { Diagnostic, Plan, ToolPin } from "@planwright/plan";
import type { NewWork, PlanningOptions } from "../records/new-documents.ts";
import type { PlanDocument } from "../records/plan-document.ts";
import type { RequestDocument } from "../records/request-document.ts";

/**
 * A client's name for a submission: sending it again does nothing twice. Valid for 24 h, within one tenant.
 */
export interface Idempotency {
  key: string;
  /** SHA-256 of the submission: the key is refused for another one. */
  payloadHash: string;
}

/** How long an idempotency key is valid, in milliseconds. */
export const KEY_LIFE_MS = 86_400_000;

/** Accepts new work. */
export interface AcceptanceStore {
  /**
   * Accepts a sentence: status PLANNING, ids fixed. Durable (majority, journalled) when it returns. A key
   * that was used for the same sentence returns the request that it made. @throws {IdempotencyKeyReusedError}
   */
  createRequest(
    input: NewWork & PlanningOptions & { query: string; idempotency?: Idempotency | undefined },
  ): Promise<RequestDocument>;
  /**
   * Accepts a submitted plan, valid or not: a request READY (or EXECUTING with `autoExecute`), or FAILED with
   * a plan INVALID. `plan` is null when the submission could not be read as a plan. A key that was used for
   * the same plan returns the request that it made, with its first version. @throws
   * {IdempotencyKeyReusedError}
   */
  submitPlan(
    input: NewWork & {
      query: string | null;
      plan: Plan | null;
      /** From the catalogue that the plan was checked against. Default: nothing is pinned. */
      toolPins?: ToolPin[] | undefined;
      raw: string;
      diagnostics: Diagnostic[];
      idempotency?: Idempotency | undefined;
    },
  ): Promise<{ request: RequestDocument; plan: PlanDocument }>;
}
