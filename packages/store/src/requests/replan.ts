import { isTerminalPlanStatus, type RequestId } from "@planwright/plan";
import type { Document } from "mongodb";
import type { StoreDependencies } from "../journal/dependencies.ts";
import { parkedFor } from "../plans/plan-end.ts";
import type { ReplanOptions, RequestDocument } from "../records/request-document.ts";
import {
  type ChangeDecision,
  changeRequest,
  isOtherVersion,
  keysInDoubt,
  type ReplanAnswer,
  type RequestNow,
  type VersionOptions,
} from "./change-request.ts";

/** Maximum number of replans of one request, automatic ones included. */
const MAX_REPLANS = 20;

/** The part of the store that asks for replans, and cancels planning. */
export function createReplan(context: StoreDependencies) {
  const { clock } = context;
  const { requests } = context.collections;

  return {
    /**
     * Gives a request whose plan has ended, but is not COMPLETED, to a planner, which makes another version
     * from the results of this one. Of several simultaneous replans and reruns one is accepted.
     * @throws {IdempotencyKeyReusedError} when the key was used for something else
     */
    async requestReplan(
      tenant: string,
      requestId: RequestId,
      { fromVersion, idempotency, by = "api", ...replan }: ReplanOptions & VersionOptions,
    ): Promise<ReplanAnswer> {
      const decide = ({ request, plan, state }: RequestNow): ReplanDecision => {
        if (isOtherVersion(request, fromVersion)) return { type: "other version", request };
        const isPlanning = request.status === "PLANNING" || state.planning.replanAsked;
        if (!plan || isPlanning) return { type: "no plan", request };
        if (plan.plan === null || plan.status === "INVALID") return { type: "invalid", request, plan };
        if (!isTerminalPlanStatus(plan.status)) return { type: "not ended", plan };
        if (plan.status === "COMPLETED") return { type: "nothing failed" };
        const keys = keysInDoubt(plan, state);
        if (keys.length > 0) return { type: "in doubt", keys };
        const { max = 0, made = 0 } = request.replans ?? {};
        if (made >= MAX_REPLANS) return { type: "too many", made };

        const now = new Date(clock.now());
        const marks = {
          ...parkedFor("replan", now),
          status: "PLANNING" as const,
          replans: { max, made: made + 1 },
          replan,
          updatedAt: now,
        };
        const { version } = request;
        const condition = {
          version,
          status: { $ne: "PLANNING" },
          "replans.made": notAbove(made),
        };
        return {
          events: [{ type: "replan.asked", ...replan }],
          by,
          following: [{ collection: "requests", id: requestId, condition, set: marks }],
          changed: { type: "asked" },
        };
      };
      const asked = { tenant, requestId, operation: "replan", idempotency, decide };
      const answer = await changeRequest<ReplanAnswer, { type: "asked" }>(context, asked);
      if (answer?.type !== "asked") return answer ?? { type: "unknown" };
      const request = await requests.findOne({ _id: requestId, tenant });
      return request ? { type: "replanning", request } : { type: "unknown" };
    },

    /**
     * Ends planning of a first plan or another version, whether it waits or runs. The request is CANCELLED,
     * no plan is made, and the planner that holds it has lost its lease. Null when the request is not being
     * planned.
     * @param by - who asks, for the journal. Default "api"
     */
    async cancelPlanning(tenant: string, requestId: RequestId, by = "api"): Promise<RequestDocument | null> {
      const decide = ({ request }: RequestNow): ChangeDecision<null, true> => {
        if (request.status !== "PLANNING") return null;
        const { epoch } = request;
        // Excludes planning that began since: a new claim has the next epoch, and another replan raises the count.
        const condition = {
          status: "PLANNING",
          version: request.version,
          epoch,
          "replans.made": notAbove(request.replans?.made ?? 0),
        };
        return {
          events: [{ type: "planning.cancelled" }],
          by,
          following: [{ collection: "requests", id: requestId, condition, expressions: PLANNING_CANCELLED }],
          changed: true,
        };
      };
      const answer = await changeRequest(context, {
        tenant,
        requestId,
        operation: "cancel planning",
        decide,
      });
      return answer ? requests.findOne({ _id: requestId, tenant }) : null;
    },
  };
}

type ReplanDecision = ChangeDecision<ReplanAnswer, { type: "asked" }>;

/** A count that is not higher, or is absent. */
function notAbove(count: number): Document {
  return count === 0 ? { $in: [0, null] } : { $lte: count };
}

const NO_RESULTS = {
  code: "PLAN_NOT_COMPLETED",
  message: "Planning was cancelled, so there are no results to describe",
};

/** Expressions for a request whose planning was cancelled. No planner holds it from then on. */
const PLANNING_CANCELLED: Document = {
  status: "CANCELLED",
  replan: null,
  answerError: { $cond: [{ $eq: ["$wantsAnswer", true] }, NO_RESULTS, "$answerError"] },
  lease: null,
  dueAt: null,
  "planning.finishedAt": "$$NOW",
  "planning.wait": null,
  updatedAt: "$$NOW",
};
