import { advance, emptyRequest, type FoldedPlan, type FoldedRequest, fold } from "@planwright/engine";
import type { PlanId, RequestId } from "@planwright/plan";
import { LRUCache } from "lru-cache";
import type { Collection, Document } from "mongodb";
import type { Collections } from "../database/collections.ts";
import { createTenantReads } from "../database/read-group.ts";
import { IN_ONE_BATCH, readLists } from "../database/read-lists.ts";
import { withDecisions } from "../heads/pending-controls.ts";
import type { StoreDependencies } from "../journal/dependencies.ts";
import { type EntryLog, idsAfter } from "../journal/entry-log.ts";
import {
  OUTLINE,
  outlineOf,
  toStepDocument,
  toStepHead,
  unitAt,
  unitsInOrder,
} from "../journal/plan-units.ts";
import type { UnitReads } from "../journal/unit-reads.ts";
import { readStepDocuments, type WantedValues, withValues } from "../journal/unit-values.ts";
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
  type StepAt,
  type StepHead,
  type StoredPlanHead,
} from "../records/document-heads.ts";
import type { JournalDocument } from "../records/journal-documents.ts";
import type { PlanDocument } from "../records/plan-document.ts";
import type { RequestDocument } from "../records/request-document.ts";
import type { StepDocument } from "../records/step-document.ts";
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

  async function stepsOf(tenant: string, plan: FoldedPlan): Promise<StepAt[]> {
    // The fold has the plan's id as a string.
    const id = plan.planId as PlanId;
    const stored = await plans.findOne({ _id: id, tenant }, { projection: OUTLINE });
    if (!stored) return [];
    const outline = outlineOf(stored);
    return [...unitsInOrder({ outline, plan })].map((placed) => {
      const { attempts } = toStepDocument(outline, placed);
      return { ...toStepHead(outline, placed), attempts };
    });
  }

  return {
    async readStateAt(tenant, requestId, seq): Promise<RequestState | null> {
      const found = await requests.findOne({ _id: requestId, tenant }, { projection: { _id: 1 } });
      if (!found) return null;
      const state = await foldedTo(requestId, seq);
      // The last stored version is the current one.
      const plan = [...state.plans.values()].at(-1) ?? null;
      const { seq: last, at, owner } = state;
      return { seq: last, at, owner, plan, steps: plan ? await stepsOf(tenant, plan) : [] };
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

  async function headsOf(tenant: string, planId: PlanId): Promise<StepHead[]> {
    const read = await unitReads.ofPlan(tenant, planId);
    if (!read) return [];
    return [...unitsInOrder(read)].map((placed) => toStepHead(read.outline, placed));
  }

  /** Units by the ids of their documents, with the wanted values. */
  async function unitsById(
    tenant: string,
    ids: readonly string[],
    wanted: WantedValues,
  ): Promise<StepDocument[]> {
    const found = await Promise.all(
      ids.map(async (id) => {
        const [planId = "", key = ""] = id.split("/", 2);
        // The id is not checked: an unknown one finds nothing.
        const read = await unitReads.ofPlan(tenant, planId as PlanId);
        const placed = read && unitAt(read, key);
        return read && placed ? { outline: read.outline, placed } : undefined;
      }),
    );
    const all = found.filter((one) => one !== undefined);
    const withEvents = all.flatMap(({ outline: { requestId }, placed: { unit } }) =>
      unit ? [{ requestId, unit }] : [],
    );
    const filled = await withValues(unitReads.log, withEvents, wanted);
    let next = 0;
    return all.map(({ outline, placed }) =>
      toStepDocument(outline, placed.unit ? { ...placed, unit: filled[next++] } : placed),
    );
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
      (await Promise.all(planIds.map((id) => headsOf(tenant, id)))).flat(),
    async getStepHead(tenant, planId, key) {
      const read = await unitReads.ofPlan(tenant, planId);
      const placed = read && unitAt(read, key);
      return read && placed ? toStepHead(read.outline, placed) : null;
    },
    readStepBodies: (tenant, ids) => unitsById(tenant, ids, { body: true }),
    readStepOutputs: (tenant, ids) => unitsById(tenant, ids, { output: true }),
    async countStepStatuses(tenant, planIds) {
      const all = await Promise.all(planIds.map((id) => unitReads.ofPlan(tenant, id)));
      return all.flatMap((read) => {
        const counts = new Map<StepHead["status"], number>();
        for (const { id } of read?.outline.steps ?? []) {
          const status = read?.plan?.units.get(id)?.status ?? "PENDING";
          counts.set(status, (counts.get(status) ?? 0) + 1);
        }
        return read
          ? [...counts].map(([status, count]) => ({ planId: read.outline._id, status, count }))
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
