import { isTerminalPlanStatus } from "@planwright/plan";
import type { RequestDocument } from "../documents.ts";
import { parkedFor } from "../planning/parked-for.ts";
import type { ClientStore, ReplanAnswer } from "../store.ts";
import type { ClientContext } from "./context.ts";

/** Most replans of one request, asked for or not. */
const MAX_REPLANS = 20;

const NO_RESULTS = {
  code: "PLAN_NOT_COMPLETED",
  message: "The plan failed, and making it anew was cancelled, so there are no results to tell of",
};

/** The part of the store that takes wishes to make plans anew. */
export function createReplan(context: ClientContext): Pick<ClientStore, "requestReplan" | "cancelReplan"> {
  const { clock, transact } = context;
  const { requests, plans, steps } = context.collections;

  return {
    requestReplan: (tenant, requestId, wish) =>
      // Two wishes at once write to the same request: one of them begins anew, and finds it PLANNING.
      transact(async (session): Promise<ReplanAnswer> => {
        const request = await requests.findOne({ _id: requestId, tenant }, { session });
        if (!request) return { type: "unknown" };
        const plan = await plans.findOne({ _id: request.planId, tenant }, { session });
        if (!plan || request.status === "PLANNING") return { type: "no plan", request };
        if (plan.plan === null || plan.status === "INVALID") return { type: "invalid", request, plan };
        if (!isTerminalPlanStatus(plan.status)) return { type: "not over", plan };
        if (plan.status === "COMPLETED") return { type: "nothing failed" };
        const doubtful = await steps
          .find({ tenant, planId: plan._id, status: "IN_DOUBT" }, { session })
          .sort({ position: 1, item: 1 })
          .toArray();
        if (doubtful.length > 0) return { type: "in doubt", keys: doubtful.map(({ key }) => key) };
        const { max = 0, made = 0 } = request.replans ?? {};
        if (made >= MAX_REPLANS) return { type: "too many", made };

        const now = new Date(clock.now());
        const { set, stamps } = parkedFor("replan");
        const change = {
          ...set,
          ...Object.fromEntries(stamps.map((field) => [field, now])),
          status: "PLANNING" as const,
          replans: { max, made: made + 1 },
          replan: wish,
          updatedAt: now,
        };
        const replanning: RequestDocument | null = await requests.findOneAndUpdate(
          { _id: requestId },
          { $set: change },
          { session, returnDocument: "after" },
        );
        return replanning ? { type: "replanning", request: replanning } : { type: "unknown" };
      }),

    cancelReplan: (tenant, requestId) =>
      requests.findOneAndUpdate(
        { _id: requestId, tenant, status: "PLANNING", "planning.work": "replan" },
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
