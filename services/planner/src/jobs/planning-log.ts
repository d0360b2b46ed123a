import type { Logger } from "@planwright/runtime";
import type { ModelCallBegin, PlanningClaim } from "@planwright/store";
import type { WorkResult } from "./planning-work.ts";

/**
 * Logs the work on requests: who claimed a request, from which planner, and how the work ended. Problems are
 * warnings.
 */
export interface PlanningLog {
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
