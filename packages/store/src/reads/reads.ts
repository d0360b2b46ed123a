import type { PlanId, RequestId } from "@planwright/plan";
import { createTenantReads } from "../database/read-group.ts";
import { IN_ONE_BATCH } from "../database/read-lists.ts";
import type { StoreDependencies } from "../journal/dependencies.ts";
import { readStepDocuments } from "../journal/unit-values.ts";
import { countUnfinished } from "../leases/leased-collection.ts";
import { measureOutputParts, readOutputPart, readOutputs } from "../outputs/output-store.ts";
import type { PlanDocument } from "../records/plan-document.ts";
import type { RequestDocument } from "../records/request-document.ts";
import type { StepDocument } from "../records/step-document.ts";
import { readToolCalls } from "../tools/tool-call-stats.ts";
import { readCatalogue } from "../tools/tool-catalogue.ts";
import { readToolListings } from "../tools/tool-listings.ts";
import { readLeftOut, readServers } from "../tools/tool-servers.ts";
import { createEventPages } from "./event-pages.ts";
import { createHeadReads } from "./head-reads.ts";
import { createListRequests } from "./list-requests.ts";
import { readModelCosts } from "./model-costs.ts";
import type { ReadStore } from "./read-store.ts";
import { createRecordPages } from "./record-pages.ts";
import { createStateReads } from "./state-reads.ts";
import { createStepPages } from "./step-pages.ts";
import { createReadWorkload } from "./workload.ts";

/** The part of the store that reads for clients. */
export function createReads({
  collections,
  unitReads,
  clock,
}: Pick<StoreDependencies, "collections" | "unitReads" | "clock">): ReadStore {
  const { requests, plans, modelCalls, tools } = collections;
  // Polling clients read these: many clients of one request cost MongoDB one read.
  const readRequest = createTenantReads(
    (tenant, ids: RequestId[]) => requests.find({ _id: { $in: ids }, tenant }, IN_ONE_BATCH).toArray(),
    (request) => request._id,
  );
  const readPlan = createTenantReads(
    (tenant, ids: PlanId[]) => plans.find({ _id: { $in: ids }, tenant }, IN_ONE_BATCH).toArray(),
    (plan) => plan._id,
  );
  /** All steps of a plan, with all values. */
  async function readSteps(tenant: string, planId: PlanId): Promise<StepDocument[]> {
    const read = await unitReads.ofPlan(tenant, planId);
    return read ? readStepDocuments(unitReads.log, read, { body: true, output: true }) : [];
  }
  const getRequest = async (tenant: string, id: RequestId): Promise<RequestDocument | null> =>
    (await readRequest({ tenant, id }))[0] ?? null;
  const getPlan = async (tenant: string, id: PlanId): Promise<PlanDocument | null> =>
    (await readPlan({ tenant, id }))[0] ?? null;

  return {
    countUnfinished: (limit, tenant) => countUnfinished(collections, limit, tenant),

    readWorkload: createReadWorkload(collections, clock),
    modelCosts: (tenant, time) => readModelCosts(collections, tenant, time),
    getRequest,
    getRequests: (tenant, requestIds) => Promise.all(requestIds.map((id) => getRequest(tenant, id))),
    getPlan,
    listPlans: (tenant, requestId) => plans.find({ tenant, requestId }).sort({ version: -1 }).toArray(),

    getPlans: (tenant, planIds) => Promise.all(planIds.map((id) => getPlan(tenant, id))),
    listSteps: async (tenant, planIds) =>
      (await Promise.all(planIds.map((id) => readSteps(tenant, id)))).flat(),

    readOutputs: (tenant, refs) => readOutputs(collections, tenant, refs),
    measureOutputParts: (tenant, ref) => measureOutputParts(collections, tenant, ref),
    readOutputPart: (tenant, ref, part) => readOutputPart(collections, tenant, ref, part),

    listRequests: createListRequests(collections),
    ...createStepPages(unitReads),
    ...createRecordPages(collections, unitReads),
    ...createEventPages(collections),
    ...createHeadReads(collections, unitReads),
    ...createStateReads(collections, unitReads.log),

    listModelCalls: (tenant: string, requestId: RequestId) =>
      modelCalls.find({ tenant, requestId }).sort({ createdAt: 1, _id: 1 }).toArray(),
    listTools: () => tools.find().sort({ _id: 1 }).toArray(),
    toolCatalogue: (tenant) => readCatalogue(collections, tenant),
    listToolListings: () => readToolListings(collections),
    toolCallStats: (tenant, since) => readToolCalls(collections, tenant, since),
    toolServers: () => readServers(collections),
    leftOutTools: () => readLeftOut(collections),
  };
}
