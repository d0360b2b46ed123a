import type { PlanId, RequestId, RequestStatus } from "@planwright/plan";
import type { Filter } from "mongodb";
import { isDue } from "../collections.ts";
import { parseCursor, toCursor } from "../cursor.ts";
import type { PlanDocument, RequestDocument } from "../documents.ts";
import { readOutputs } from "../outputs/output-store.ts";
import type { ClientStore } from "../store.ts";
import { readCatalogue } from "../tool-catalogue.ts";
import type { ClientContext } from "./context.ts";

/** The part of the store that clients read. */
export function createReads({
  collections,
}: ClientContext): Pick<
  ClientStore,
  | "countUnfinished"
  | "getRequest"
  | "getPlan"
  | "listPlans"
  | "getPlans"
  | "listSteps"
  | "readOutputs"
  | "listRequests"
  | "listModelCalls"
  | "listTools"
  | "toolCatalogue"
> {
  const { requests, plans, steps, modelCalls, tools } = collections;

  return {
    async countUnfinished(limit) {
      // By the indexes that hold unfinished documents alone.
      const [running, planning] = await Promise.all([
        plans.countDocuments({ dueAt: isDue() }, { limit }),
        requests.countDocuments({ "planning.dueAt": isDue() }, { limit }),
      ]);
      return Math.min(running + planning, limit);
    },

    getRequest: (tenant, requestId) => requests.findOne({ _id: requestId, tenant }),
    getPlan: (tenant, planId) => plans.findOne({ _id: planId, tenant }),
    listPlans: (tenant, requestId) => plans.find({ tenant, requestId }).sort({ version: -1 }).toArray(),

    async getPlans(tenant, planIds) {
      const found = await plans.find({ _id: { $in: [...planIds] }, tenant }).toArray();
      const byId = new Map<PlanId, PlanDocument>(found.map((plan) => [plan._id, plan]));
      return planIds.map((planId) => byId.get(planId) ?? null);
    },

    listSteps: (tenant, planIds) =>
      steps
        .find({ tenant, planId: { $in: [...planIds] } })
        .sort({ planId: 1, position: 1, item: 1 })
        .toArray(),

    readOutputs: (tenant, refs) => readOutputs(collections, tenant, refs),

    async listRequests(tenant, { first, after, status }) {
      const found = await requests
        .find(pageFilter(tenant, after, status))
        .sort({ createdAt: -1, _id: -1 })
        .limit(first + 1)
        .toArray();
      const items = found.slice(0, first);
      const last = items.at(-1);
      const hasMore = found.length > first && last !== undefined;
      return { items, cursor: hasMore ? toCursor({ createdAt: last.createdAt, id: last._id }) : null };
    },

    listModelCalls: (tenant: string, requestId: RequestId) =>
      modelCalls.find({ tenant, requestId }).sort({ createdAt: 1, _id: 1 }).toArray(),
    listTools: () => tools.find().sort({ _id: 1 }).toArray(),
    toolCatalogue: () => readCatalogue(collections),
  };
}

function pageFilter(
  tenant: string,
  after: string | undefined,
  status: readonly RequestStatus[] | undefined,
): Filter<RequestDocument> {
  const filter: Filter<RequestDocument> = { tenant };
  if (status && status.length > 0) filter.status = { $in: [...status] };
  if (after !== undefined) {
    const { createdAt, id } = parseCursor(after);
    filter.$or = [{ createdAt: { $lt: createdAt } }, { createdAt, _id: { $lt: id } }];
  }
  return filter;
}
