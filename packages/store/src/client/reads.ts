import type { PlanId, PlanStatus, RequestId } from "@planwright/plan";
import { isDue, UNFINISHED_PLANS } from "../collections.ts";
import type { PlanDocument, RequestDocument } from "../documents.ts";
import { readOutputs } from "../outputs/output-store.ts";
import { createTenantReads } from "../read-group.ts";
import type { ClientStore } from "../store.ts";
import { readCatalogue } from "../tool-catalogue.ts";
import { readServers } from "../tool-servers.ts";
import type { ClientContext } from "./context.ts";
import { createListRequests } from "./list-requests.ts";
import type { PagedReads } from "./paged-reads.ts";
import { WHOLE } from "./read-lists.ts";
import { createRecordPages } from "./record-pages.ts";
import { createStepPages } from "./step-pages.ts";

/** The part of the store that clients read. */
export function createReads({
  collections,
}: ClientContext): Pick<
  ClientStore,
  | "countUnfinished"
  | "countPlansByStatus"
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
  | "toolServers"
  | keyof PagedReads
> {
  const { requests, plans, steps, modelCalls, tools } = collections;
  // Whoever polls asks for these: many clients of one request cost MongoDB one read.
  const readRequest = createTenantReads(
    (tenant, ids: RequestId[]) => requests.find({ _id: { $in: ids }, tenant }, WHOLE).toArray(),
    (request) => request._id,
  );
  const readPlan = createTenantReads(
    (tenant, ids: PlanId[]) => plans.find({ _id: { $in: ids }, tenant }, WHOLE).toArray(),
    (plan) => plan._id,
  );
  const readSteps = createTenantReads(
    (tenant, ids: PlanId[]) =>
      steps
        .find({ tenant, planId: { $in: ids } }, WHOLE)
        .sort({ planId: 1, position: 1, item: 1 })
        .toArray(),
    (step) => step.planId,
  );
  const getRequest = async (tenant: string, id: RequestId): Promise<RequestDocument | null> =>
    (await readRequest({ tenant, id }))[0] ?? null;
  const getPlan = async (tenant: string, id: PlanId): Promise<PlanDocument | null> =>
    (await readPlan({ tenant, id }))[0] ?? null;

  return {
    async countUnfinished(limit) {
      // By the indexes that hold unfinished documents alone.
      const [running, planning] = await Promise.all([
        plans.countDocuments({ dueAt: isDue() }, { limit }),
        requests.countDocuments({ "planning.dueAt": isDue() }, { limit }),
      ]);
      return Math.min(running + planning, limit);
    },

    async countPlansByStatus(limit) {
      const counts = UNFINISHED_PLANS.map(
        async (status): Promise<[PlanStatus, number]> => [
          status,
          await plans.countDocuments({ status }, { limit }),
        ],
      );
      return new Map(await Promise.all(counts));
    },

    getRequest,
    getRequests: (tenant, requestIds) => Promise.all(requestIds.map((id) => getRequest(tenant, id))),
    getPlan,
    listPlans: (tenant, requestId) => plans.find({ tenant, requestId }).sort({ version: -1 }).toArray(),
    listPlansOf: (tenant, requestIds) =>
      plans
        .find({ tenant, requestId: { $in: [...requestIds] } }, WHOLE)
        .sort({ requestId: 1, version: -1 })
        .toArray(),

    getPlans: (tenant, planIds) => Promise.all(planIds.map((id) => getPlan(tenant, id))),
    listSteps: async (tenant, planIds) =>
      (await Promise.all(planIds.map((id) => readSteps({ tenant, id })))).flat(),

    readOutputs: (tenant, refs) => readOutputs(collections, tenant, refs),

    listRequests: createListRequests(collections),
    ...createStepPages(collections),
    ...createRecordPages(collections),

    listModelCalls: (tenant: string, requestId: RequestId) =>
      modelCalls.find({ tenant, requestId }).sort({ createdAt: 1, _id: 1 }).toArray(),
    // In the order of the index, which needs no sorting of long prompts in memory.
    listModelCallsOf: (tenant, requestIds) =>
      modelCalls
        .find({ tenant, requestId: { $in: [...requestIds] } }, WHOLE)
        .sort({ requestId: 1, createdAt: 1 })
        .toArray(),
    listTools: () => tools.find().sort({ _id: 1 }).toArray(),
    toolCatalogue: (tenant) => readCatalogue(collections, tenant),
    toolServers: () => readServers(collections),
  };
}
