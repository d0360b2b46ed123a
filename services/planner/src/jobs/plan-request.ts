import { CodedError, RequestIdSchema } from "@planwright/plan";
import type { Logger } from "@planwright/runtime";
import {
  LeaseLostError,
  type ModelCallBegin,
  type PlanDocument,
  type PlanningClaim,
} from "@planwright/store";
import type { HeldRequests } from "./held-requests.ts";
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
interface ClaimTrace {
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

/**
 * Logs the work on requests: who claimed a request, from which planner, and how the work ended. Problems are
 * warnings.
 */
interface PlanningLog {
  claimed(claim: PlanningClaim): void;
  /** Another planner holds the request now. */
  lost(claim: PlanningClaim): void;
  ended(claim: PlanningClaim, result: WorkResult): void;
  /** The recorded answer of an earlier planner is used, so no call is made. */
  reused(claim: PlanningClaim, call: Pick<ModelCallBegin, "purpose" | "model">): void;
}

/** @param traceFacts - the trace id of a request, for each line; default: none */
export function createPlanningLog(
  logger: Pick<Logger, "info" | "warn">,
  traceFacts: (request: PlanningClaim["request"]) => { trace_id?: string } = () => ({}),
): PlanningLog {
  const factsOf = ({ request }: PlanningClaim) => ({
    requestId: request._id,
    worker: request.lease?.owner,
    ...traceFacts(request),
  });
  return {
    claimed(claim) {
      const {
        takenFrom,
        planning: { work },
      } = claim.request;
      const facts = { ...factsOf(claim), epoch: claim.epoch };
      logger.info({ ...facts, work: work ?? "plan" }, "request claimed");
      if (typeof takenFrom !== "string") return;
      logger.warn({ ...facts, from: takenFrom }, "request taken over from a planner that did not release it");
    },
    lost(claim) {
      logger.warn({ epoch: claim.epoch, code: "LEASE_LOST", ...factsOf(claim) }, "lease lost");
    },
    ended(claim, result) {
      const facts = factsOf(claim);
      if (result.type === "planned") logger.info({ ...facts, planId: result.plan._id }, "planned");
      if (result.type === "answered") logger.info(facts, "answered");
      if (result.type === "postponed") {
        const { error, nextAttemptAt, until } = result;
        logger.warn(
          { ...facts, code: error.code, reason: error.message, nextAttemptAt, until },
          "the model is away, planning waits",
        );
      }
      if (result.type === "failed")
        logger.warn({ ...facts, code: result.code, reason: result.message }, "not planned");
    },
    reused(claim, call) {
      logger.info({ ...call, ...factsOf(claim) }, "an earlier planner's answer is used, no call is made");
    },
  };
}

/** Dependencies of {@link createPlanningRuns}. */
interface PlanningRunsParts {
  planRequest: (requestId: string, signal: AbortSignal) => Promise<PlanningResult>;
  /** Most requests that may be in progress now. */
  allowed: () => number;
}

/** The requests that this process is planning. */
interface PlanningRuns {
  /**
   * Plans a request, unless this process is full, is stopping or is already planning it; sweepers find the
   * others.
   */
  take(requestId: string): Promise<void>;
  /** Number of requests that could start now. */
  capacity(): number;
  /**
   * Starts nothing more, waits for the requests in progress, and aborts those that have not ended in time.
   */
  drain(timeoutMs: number): Promise<void>;
}

/** Keeps the requests in progress, so that the queue, the sweeper and the shutdown use the same number. */
export function createPlanningRuns({ planRequest, allowed }: PlanningRunsParts): PlanningRuns {
  const inProgress = new Map<string, Promise<unknown>>();
  const stop = new AbortController();
  let isStopping = false;
  const capacity = () => (isStopping ? 0 : Math.max(0, allowed() - inProgress.size));

  return {
    capacity,
    async take(requestId) {
      if (capacity() === 0 || inProgress.has(requestId)) return;
      const run = planRequest(requestId, stop.signal);
      inProgress.set(requestId, run);
      try {
        await run;
      } catch (error) {
        if (!stop.signal.aborted) throw error;
      } finally {
        inProgress.delete(requestId);
      }
    },
    async drain(timeoutMs) {
      isStopping = true;
      const late = setTimeout(
        () => stop.abort(new DOMException("the planner stops", "AbortError")),
        timeoutMs,
      );
      await Promise.allSettled(inProgress.values());
      clearTimeout(late);
    },
  };
}
