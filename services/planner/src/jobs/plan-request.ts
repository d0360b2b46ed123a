import { CodedError, RequestIdSchema } from "@planwright/plan";
import { LeaseLostError, type PlanDocument, type PlanningClaim } from "@planwright/store";
import type { HeldRequests } from "./held-requests.ts";
import type { PlanningLog } from "./planning-log.ts";
import type { PlanningWorker, WorkResult } from "./planning-work.ts";

/** How the work on one request ended. */
export type PlanningResult =
  | WorkResult
  /** Another planner holds the request, or it has ended. */
  | { type: "skipped" };

/** Traces the work on claims. */
export interface ClaimTraces {
  /** A request was claimed. */
  claimed(claim: PlanningClaim): ClaimTrace;
}

/** One claim of a request. */
export interface ClaimTrace {
  ended(result: WorkResult): void;
  /** The work failed and nothing was recorded about it. */
  broke(code: string): void;
}

/** Dependencies of {@link createPlanRequest}. */
export interface PlanRequestParts {
  held: Pick<HeldRequests, "take">;
  /** Does the work that the request waits for. */
  work: PlanningWorker;
  /** Sends executors a hint about a plan that is to run at once; never fails and never waits. */
  offerExecution: (plan: PlanDocument) => void;
  /**
   * Logs claims and their ends. A claim whose work failed unexpectedly is not logged here. Default: nothing
   * is logged.
   */
  log?: Pick<PlanningLog, "claimed" | "ended" | "lost"> | undefined;
  /** Default: nothing is traced. */
  traces?: ClaimTraces | undefined;
}

/**
 * Plans one request under a lease. Safe to call for any id, any number of times, in many processes at once:
 * only one claim succeeds, and the store accepts one plan.
 */
export function createPlanRequest(parts: PlanRequestParts) {
  return async (jobId: string, signal: AbortSignal): Promise<PlanningResult> => {
    const requestId = RequestIdSchema.parse(jobId);
    signal.throwIfAborted();
    const lease = await parts.held.take(requestId);
    if (!lease) return { type: "skipped" };
    const { claim } = lease;
    parts.log?.claimed(claim);
    const trace = parts.traces?.claimed(claim);
    let isLost = false;
    try {
      const held = AbortSignal.any([signal, lease.lost]);
      const result = await parts.work(claim, held);
      if (result.type === "planned" && result.plan.status === "QUEUED") parts.offerExecution(result.plan);
      trace?.ended(result);
      parts.log?.ended(claim, result);
      return result;
    } catch (error) {
      isLost = error instanceof LeaseLostError || lease.lost.aborted;
      trace?.broke(isLost ? "LEASE_LOST" : codeOf(error));
      if (!isLost) throw error;
      parts.log?.lost(claim);
      return { type: "skipped" };
    } finally {
      lease.release({ isLost });
    }
  };
}

function codeOf(error: unknown): string {
  if (error instanceof CodedError) return error.code;
  return error instanceof DOMException && error.name === "AbortError" ? "ABORTED" : "INTERNAL";
}
