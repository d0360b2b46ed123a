import type { PlanId, RequestId } from "@planwright/plan";
import { isDue } from "../collections.ts";
import type { PlanDocument, RequestDocument } from "../documents.ts";
import { readOutputs } from "../outputs/output-store.ts";
import type { ClientStore } from "../store.ts";
import { readCatalogue } from "../tool-catalogue.ts";
import type { ClientContext } from "./context.ts";
import { createListRequests } from "./list-requests.ts";

/** Documents that one answer of MongoDB may hold: the default of 101 would make more reads of a longer list. */
const WHOLE = { batchSize: 100_000 };

/** The part of the store that clients read. */
export function createReads({
  collections,
}: ClientContext): Pick<
  ClientStore,
  | "countUnfinished"
  | "getRequest"
  | "getRequests"
  | "getPlan"
  | "listPlans"
  | "listPlansOf"
  | "getPlans"
  | "listSteps"
  | "readOutputs"
  | "listRequests"
  | "listModelCalls"
  | "listModelCallsOf"
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
    async getRequests(tenant, requestIds) {
      const found = await requests.find({ _id: { $in: [...requestIds] }, tenant }, WHOLE).toArray();
      const byId = new Map<RequestId, RequestDocument>(found.map((request) => [request._id, request]));
      return requestIds.map((requestId) => byId.get(requestId) ?? null);
    },
    getPlan: (tenant, planId) => plans.findOne({ _id: planId, tenant }),
    listPlans: (tenant, requestId) => plans.find({ tenant, requestId }).sort({ version: -1 }).toArray(),
    listPlansOf: (tenant, requestIds) =>
      plans
        .find({ tenant, requestId: { $in: [...requestIds] } }, WHOLE)
        .sort({ requestId: 1, version: -1 })
        .toArray(),

    async getPlans(tenant, planIds) {
      const found = await plans.find({ _id: { $in: [...planIds] }, tenant }, WHOLE).toArray();
      const byId = new Map<PlanId, PlanDocument>(found.map((plan) => [plan._id, plan]));
      return planIds.map((planId) => byId.get(planId) ?? null);
    },

    listSteps: (tenant, planIds) =>
      steps
        .find({ tenant, planId: { $in: [...planIds] } }, WHOLE)
        .sort({ planId: 1, position: 1, item: 1 })
        .toArray(),

    readOutputs: (tenant, refs) => readOutputs(collections, tenant, refs),

    listRequests: createListRequests(collections),

    listModelCalls: (tenant: string, requestId: RequestId) =>
      modelCalls.find({ tenant, requestId }).sort({ createdAt: 1, _id: 1 }).toArray(),
    // In the order of the index, which needs no sorting of long prompts in memory.
    listModelCallsOf: (tenant, requestIds) =>
      modelCalls
        .find({ tenant, requestId: { $in: [...requestIds] } }, WHOLE)
        .sort({ requestId: 1, createdAt: 1 })
        .toArray(),
    listTools: () => tools.find().sort({ _id: 1 }).toArray(),
    toolCatalogue: () => readCatalogue(collections),
  };
}
