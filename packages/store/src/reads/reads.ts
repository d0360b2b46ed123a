import {
  advance,
  emptyRequest,
  type FoldedPlan,
  type FoldedRequest,
  fold,
  outlineOf,
  type StepRun,
  stepRunAt,
  stepRuns,
} from "@planwright/engine";
import type { PlanId, RequestId } from "@planwright/plan";
import { LRUCache } from "lru-cache";
import type { Collection, Document } from "mongodb";
import type { Collections } from "../database/collections.ts";
import { createTenantReads } from "../database/read-group.ts";
import { IN_ONE_BATCH, readLists } from "../database/read-lists.ts";
import { withDecisions } from "../heads/pending-controls.ts";
import type { StoreDependencies } from "../journal/dependencies.ts";
import { type EntryLog, idsAfter } from "../journal/entry-log.ts";
import { OUTLINE, type UnitReads } from "../journal/unit-reads.ts";
import { readStepRuns, withValues } from "../journal/unit-values.ts";
import { countUnfinished } from "../leases/leased-collection.ts";
import { measureOutputParts, readOutputPart, readOutputs } from "../outputs/output-store.ts";
import {
  type HeadReads,
  MODEL_CALL_HEAD,
  type ModelCallHead,
  PARTS,
  PLAN_HEAD,
  type PlanResults,
  type RequestState,
  type StateReads,
  type StoredPlanHead,
} from "../records/document-heads.ts";
import type { JournalDocument } from "../records/journal-documents.ts";
import type { PlanDocument } from "../records/plan-document.ts";
import type { RequestDocument } from "../records/request-document.ts";
import { readToolCalls } from "../tools/tool-call-stats.ts";
import { readCatalogue } from "../tools/tool-catalogue.ts";
import { readToolListings } from "../tools/tool-listings.ts";
import { readLeftOut, readServers } from "../tools/tool-servers.ts";
import { createEventPages } from "./event-pages.ts";
import { createListRequests } from "./list-requests.ts";
import { readModelCosts } from "./model-costs.ts";
import type { ReadStore } from "./read-store.ts";
import { createRecordPages } from "./record-pages.ts";
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
  async function readSteps(tenant: string, planId: PlanId): Promise<StepRun[]> {
    const read = await unitReads.ofPlan(tenant, planId);
    return read ? readStepRuns(unitReads.log, read, { body: true, output: true }) : [];
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

/* States of requests at an entry of their journals. */

/**
 * Maximum number of units in cached states: for a reader that moves forward through a journal each entry is
 * read once.
 */
const MAX_CACHED_UNITS = 20_000;

/** The part of the store that reads journals up to an entry. */
function createStateReads(
  { requests, plans, journal }: Pick<Collections, "requests" | "plans" | "journal">,
  log: Pick<EntryLog, "readTails">,
): StateReads {
  const states = new LRUCache<RequestId, FoldedRequest>({
    maxSize: MAX_CACHED_UNITS,
    sizeCalculation: ({ plans: all }) => [...all.values()].reduce((sum, { units }) => sum + units.size, 1),
  });

  async function foldedTo(requestId: RequestId, seq: number): Promise<FoldedRequest> {
    const kept = states.get(requestId);
    let state = kept && kept.seq <= seq ? kept : emptyRequest(requestId);
    if (state.seq === seq) return state;
    let isOwn = false;
    for await (const entry of log.readTails([{ requestId, seq: state.seq }])) {
      if (isOwn) advance(state, [entry]);
      else state = fold(state, [entry]);
      isOwn = true;
      if (entry.seq === seq) break;
    }
    states.set(requestId, state);
    return state;
  }

  async function stepsOf(tenant: string, plan: FoldedPlan): Promise<StepRun[]> {
    // The fold has the plan's id as a string.
    const id = plan.planId as PlanId;
    const stored = await plans.findOne({ _id: id, tenant }, { projection: OUTLINE });
    return stored ? stepRuns({ outline: outlineOf(stored), plan }) : [];
  }

  return {
    async readStateAt(tenant, requestId, seq): Promise<RequestState | null> {
      const found = await requests.findOne({ _id: requestId, tenant }, { projection: { _id: 1 } });
      if (!found) return null;
      const state = await foldedTo(requestId, seq);
      // The last stored version is the current one.
      const plan = [...state.plans.values()].at(-1) ?? null;
      const { seq: last, at, owner, epoch } = state;
      return { seq: last, at, owner, epoch, plan, steps: plan ? await stepsOf(tenant, plan) : [] };
    },

    async readLastSeqs(tenant, requestIds) {
      const pipelines = requestIds.map((requestId) => [
        { $match: { _id: idsAfter({ requestId, seq: 0 }), tenant } },
        { $sort: { _id: -1 } },
        { $limit: 1 },
        { $project: { requestId: 1, seq: 1 } },
      ]);
      const found = await readLists<JournalDocument>(journal, "journal", pipelines);
      const seqs = new Map(found.map(({ requestId, seq }) => [requestId, seq]));
      return requestIds.map((id) => seqs.get(id) ?? 0);
    },
  };
}

/** The part of the store that reads documents without large values, and these values separately. */
function createHeadReads(
  { plans, modelCalls }: Pick<Collections, "plans" | "modelCalls">,
  unitReads: UnitReads,
): HeadReads {
  // Polling clients read these: many clients of one request cost MongoDB one read.
  const planHead = createTenantReads(
    async (tenant, ids: PlanId[]) => {
      const match = { $match: { _id: { $in: ids }, tenant } };
      return withDecisions(
        unitReads,
        await plans.aggregate<StoredPlanHead>([match, ...PLAN_HEAD], IN_ONE_BATCH).toArray(),
      );
    },
    ({ _id }) => _id,
  );

  const planResults = createTenantReads(
    partsOf<PlanResults, PlanId>(plans, PARTS.planResults),
    ({ _id }) => _id,
  );

  async function runsOf(tenant: string, planId: PlanId): Promise<StepRun[]> {
    const read = await unitReads.ofPlan(tenant, planId);
    return read ? stepRuns(read) : [];
  }

  /** Parts of documents by their ids. */
  function partsOf<Part extends Document, Id extends string = string>(
    collection: Pick<Collection, "aggregate">,
    projection: Document,
  ) {
    return (tenant: string, ids: readonly Id[]): Promise<Part[]> =>
      collection
        .aggregate<Part>(
          [{ $match: { _id: { $in: [...ids] }, tenant } }, { $project: projection }],
          IN_ONE_BATCH,
        )
        .toArray();
  }

  return {
    getPlanHeads: (tenant, planIds) =>
      Promise.all(planIds.map(async (id) => (await planHead({ tenant, id }))[0] ?? null)),
    listPlanHeadsOf: async (tenant, requestIds) =>
      withDecisions(
        unitReads,
        await plans
          .aggregate<StoredPlanHead>(
            [
              { $match: { tenant, requestId: { $in: [...requestIds] } } },
              { $sort: { requestId: 1, version: -1 } },
              ...PLAN_HEAD,
            ],
            IN_ONE_BATCH,
          )
          .toArray(),
      ),
    readPlanGraphs: partsOf(plans, PARTS.planGraph),
    readPlanTexts: partsOf(plans, PARTS.planTexts),
    // Clients wait for the results of plans: plans that end together share one read.
    readPlanResults: async (tenant, planIds) =>
      (await Promise.all(planIds.map((id) => planResults({ tenant, id })))).flat(),
    listStepHeads: async (tenant, planIds) =>
      (await Promise.all(planIds.map((id) => runsOf(tenant, id)))).flat(),
    async getStepHead(tenant, planId, key) {
      const read = await unitReads.ofPlan(tenant, planId);
      return (read && stepRunAt(read, key)) ?? null;
    },
    readStepValues(tenant, steps, wanted) {
      const own = steps.filter((unit) => unit.tenant === tenant);
      return withValues(
        unitReads.log,
        own.map((unit) => ({ requestId: unit.requestId, unit })),
        wanted,
      );
    },
    async countStepStatuses(tenant, planIds) {
      const all = await Promise.all(planIds.map((id) => unitReads.ofPlan(tenant, id)));
      return all.flatMap((read) => {
        const counts = new Map<StepRun["status"], number>();
        for (const { id } of read?.outline.steps ?? []) {
          const status = read?.plan?.units.get(id)?.status ?? "PENDING";
          counts.set(status, (counts.get(status) ?? 0) + 1);
        }
        return read
          ? [...counts].map(([status, count]) => ({ planId: read.outline.planId, status, count }))
          : [];
      });
    },
    listModelCallHeadsOf: (tenant, requestIds: readonly RequestId[]) =>
      modelCalls
        .aggregate<ModelCallHead>(
          [
            { $match: { tenant, requestId: { $in: [...requestIds] } } },
            // The order of the index.
            { $sort: { requestId: 1, createdAt: 1 } },
            ...MODEL_CALL_HEAD,
          ],
          IN_ONE_BATCH,
        )
        .toArray(),
    readModelCallTexts: partsOf(modelCalls, PARTS.modelCallTexts),
  };
}
