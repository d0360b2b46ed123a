import { isTerminalPlanStatus } from "@planwright/plan";
import type { ClientSession } from "mongodb";
import type { RequestDocument } from "../documents.ts";
import { stepDocuments } from "../journal/plan-units.ts";
import { readInSession } from "../journal/read-in-session.ts";
import { parkedFor } from "../planning/parked-for.ts";
import type { ClientStore, ReplanAnswer } from "../store.ts";
import { changeOnce } from "./change-once.ts";
import type { ClientContext } from "./context.ts";
import { isOtherVersion } from "./is-other-version.ts";

/** Most replans of one request, asked for or not. */
const MAX_REPLANS = 20;

const NO_RESULTS = {
  code: "PLAN_NOT_COMPLETED",
  message: "Planning was cancelled, so there are no results to tell of",
};

/** The part of the store that takes wishes to make plans anew, and to make no plan. */
export function createReplan(context: ClientContext): Pick<ClientStore, "requestReplan" | "cancelPlanning"> {
  const { clock } = context;
  const { requests, plans } = context.collections;

  return {
    async requestReplan(tenant, requestId, { fromVersion, idempotency, ...wish }): Promise<ReplanAnswer> {
      // Two wishes at once write to the same request: one of them begins anew, and finds it PLANNING.
      const change = async (session: ClientSession): Promise<ReplanAnswer> => {
        const request = await requests.findOne({ _id: requestId, tenant }, { session });
        if (!request) return { type: "unknown" };
        if (isOtherVersion(request, fromVersion)) return { type: "other version", request };
        const plan = await plans.findOne({ _id: request.planId, tenant }, { session });
        if (!plan || request.status === "PLANNING") return { type: "no plan", request };
        if (plan.plan === null || plan.status === "INVALID") return { type: "invalid", request, plan };
        if (!isTerminalPlanStatus(plan.status)) return { type: "not over", plan };
        if (plan.status === "COMPLETED") return { type: "nothing failed" };
        const units = stepDocuments(await readInSession(context.collections, plan, session));
        const keys = units.filter(({ status }) => status === "IN_DOUBT").map(({ key }) => key);
        if (keys.length > 0) return { type: "in doubt", keys };
        const { max = 0, made = 0 } = request.replans ?? {};
        if (made >= MAX_REPLANS) return { type: "too many", made };

        const now = new Date(clock.now());
        const { set, stamps } = parkedFor("replan");
        const marks = {
          ...set,
          ...Object.fromEntries(stamps.map((field) => [field, now])),
          status: "PLANNING" as const,
          replans: { max, made: made + 1 },
          replan: wish,
          updatedAt: now,
        };
        const replanning: RequestDocument | null = await requests.findOneAndUpdate(
          { _id: requestId },
          { $set: marks },
          { session, returnDocument: "after" },
        );
        return replanning ? { type: "replanning", request: replanning } : { type: "unknown" };
      };
      const changed = ({ type }: ReplanAnswer) => (type === "replanning" ? requestId : undefined);
      return changeOnce(context, { tenant, operation: "replan", idempotency, change, changed });
    },

    cancelPlanning: (tenant, requestId) =>
      requests.findOneAndUpdate(
        // Without its lease the planner that is at work on it can write nothing more.
        { _id: requestId, tenant, status: "PLANNING" },
        [
          {
            $set: {
              status: "CANCELLED",
              replan: null,
              answerError: { $cond: [{ $eq: ["$wantsAnswer", true] }, NO_RESULTS, "$answerError"] },
              "planning.lease": null,
              "planning.dueAt": null,
              "planning.finishedAt": "$$NOW",
              updatedAt: "$$NOW",
            },
          },
        ],
        { returnDocument: "after" },
      ),
  };
}
