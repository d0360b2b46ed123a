import { RequestIdSchema } from "@planwright/plan";
import { LeaseLostError, type PlanDocument, type PlanningStore } from "@planwright/store";
import { initialState, type PlanningState } from "../graph/planning-state.ts";
import { type KeepLeaseParts, keepLease } from "./keep-lease.ts";

/** How the work on one request ended. */
export type PlanningResult =
  | { type: "planned"; plan: PlanDocument }
  | { type: "failed"; code: string }
  /** Somebody else holds the request, or it is over. */
  | { type: "skipped" };

/** What planning one request needs. */
export interface PlanRequestParts extends KeepLeaseParts {
  store: Pick<PlanningStore, "claimRequest" | "renewPlanning">;
  graph: { invoke(state: PlanningState, config: { signal: AbortSignal }): Promise<PlanningState> };
  /** Tells executors of a plan that is to run at once; never fails and never waits. */
  offerExecution: (planId: string, epoch: number) => void;
  /** Names this process in the leases that it takes. */
  owner: string;
}

/**
 * Plans one request under a lease that is renewed while it lasts. Safe to call for any id, any number of times and anywhere at
 * once: the claim decides who works, and the store takes one plan.
 */
export function createPlanRequest(parts: PlanRequestParts) {
  return async (jobId: string, signal: AbortSignal): Promise<PlanningResult> => {
    const requestId = RequestIdSchema.parse(jobId);
    signal.throwIfAborted();
    const claim = await parts.store.claimRequest(requestId, parts.owner);
    if (!claim) return { type: "skipped" };
    const lease = keepLease(claim, parts);
    try {
      const held = AbortSignal.any([signal, lease.lost]);
      const { stored, failure } = await parts.graph.invoke(initialState(claim), { signal: held });
      if (!stored) return { type: "failed", code: failure?.code ?? "PLAN_INVALID" };
      if (stored.status === "QUEUED") parts.offerExecution(stored._id, stored.epoch);
      return { type: "planned", plan: stored };
    } catch (error) {
      if (error instanceof LeaseLostError || lease.lost.aborted) return { type: "skipped" };
      throw error;
    } finally {
      lease.stop();
    }
  };
}
