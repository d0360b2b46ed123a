import {
  advance,
  emptyRequest,
  type FoldedPlan,
  type FoldedRequest,
  fold,
  outlineOf,
  type StepRun,
  stepRuns,
} from "@planwright/engine";
import type { JsonValue, PlanId, RequestId } from "@planwright/plan";
import type { Collection, Document } from "mongodb";
import type { Collections } from "../database/collections.ts";
import { createTenantReads, IN_ONE_BATCH, readLists } from "../database/read-lists.ts";
import type { StoreDependencies } from "../journal/dependencies.ts";
import { type EntryLog, idsAfter } from "../journal/entry-log.ts";
import { measureOutputParts, readOutputPart, readOutputs } from "../journal/outputs.ts";
import { createFoldCache, OUTLINE, type UnitReads, withValues } from "../journal/unit-reads.ts";
import { countUnfinished } from "../leases/lease-table.ts";
import { readPlanHeads, withDecisions } from "../plans/plan-needs.ts";
import {
  MODEL_CALL_HEAD,
  type ModelCallHead,
  type ModelCallTexts,
  PARTS,
  PLAN_HEAD,
  type PlanGraph,
  type PlanHead,
  type PlanResults,
  type PlanTexts,
  type RequestState,
  type RequestWithPlan,
  type StoredPlanHead,
  type WantedValues,
} from "../records/document-heads.ts";
import type { OutputRef } from "../records/plan-document.ts";
import type { JournalDocument, RequestDocument } from "../records/request-document.ts";
import type { ToolDocument } from "../records/tool-documents.ts";
import { createToolReads } from "../tools/tool-store.ts";
import { createListRequests } from "./list-requests.ts";
import { createRecordPages } from "./record-pages.ts";
import { type ModelCosts, readModelCosts, readWorkload } from "./workload.ts";

/** The part of the store that reads for clients. */
export function createReads({ collections, unitReads, clock }: StoreDependencies) {
  const { requests, plans, tools } = collections;
  // Polling clients read these: many clients of one request cost MongoDB one read.
  const getRequest = createTenantReads(
    (tenant, ids: RequestId[]) => requests.find({ _id: { $in: ids }, tenant }, IN_ONE_BATCH).toArray(),
    (request) => request._id,
  );
  const getPlan = createTenantReads(
    (tenant, ids: PlanId[]) => plans.find({ _id: { $in: ids }, tenant }, IN_ONE_BATCH).toArray(),
    (plan) => plan._id,
  );

  return {
    /**
     * Number of plans and requests in planning that have not ended, at most `limit`. Plans that never started
     * or are paused without a deadline do not count.
     * @param tenant - only those of this tenant, without plans that wait for a person. Default: of all
     *   tenants
     */
    countUnfinished: (limit: number, tenant?: string) => countUnfinished(collections, limit, tenant),

    /** Running, waiting and recently ended work of a tenant. Every count is bounded, and reads only an index. */
    readWorkload: (tenant: string) => readWorkload(collections, clock, tenant),
    /** What the tenant's model calls cost that were sent from a time on and before another. */
    modelCosts: (tenant: string, time: { from: Date; before: Date }): Promise<ModelCosts> =>
      readModelCosts(collections, tenant, time),
    /** As with `getPlan`, calls of the same turn share one read. */
    getRequest,
    getPlan,
    /**
     * Outputs that are stored separately (`outputRef`), by id of the reference.
     * @throws {OutputMissingError}
     */
    readOutputs: (tenant: string, refs: readonly OutputRef[]): Promise<Map<string, JsonValue>> =>
      readOutputs(collections, tenant, refs),
    /** Sizes of the documents of such an output, in bytes of UTF-8. @throws {OutputMissingError} */
    measureOutputParts: (tenant: string, ref: OutputRef): Promise<number[]> =>
      measureOutputParts(collections, tenant, ref),
    /** The text of one of these documents, from 0: together they are the output's JSON text. */
    readOutputPart: (tenant: string, ref: OutputRef, part: number): Promise<Uint8Array> =>
      readOutputPart(collections, tenant, ref, part),

    /** `cursor` is null only at the end, also of a short page. @throws {CursorInvalidError} */
    listRequests: createListRequests(collections),
    /** The folded units of a plan; null for an unknown one. Calls of the same turn share one read. */
    readUnits: unitReads.ofPlan,
    ...createRecordPages(collections, unitReads),
    ...createHeadReads(collections, unitReads),
    getRequestWithPlan: createReadWithPlan(collections, unitReads),
    ...createStateReads(collections, unitReads.log),

    /** The catalogue, as executors last published it, by server and name. */
    listTools: (): Promise<ToolDocument[]> => tools.find().sort({ _id: 1 }).toArray(),
    ...createToolReads(collections),
  };
}

/* States of requests at an entry of their journals. */

/** Maximum number of units in cached states: a reader that moves forward reads each entry once. */
const MAX_CACHED_UNITS = 20_000;

function createStateReads({ requests, plans, journal }: Collections, log: EntryLog) {
  const states = createFoldCache(MAX_CACHED_UNITS);

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
    /**
     * The state at this entry, or at the last one if there are fewer; 0: before the first. Null for an
     * unknown request.
     * @throws {JournalInvalidError}
     */
    async readStateAt(tenant: string, requestId: RequestId, seq: number): Promise<RequestState | null> {
      const found = await requests.findOne({ _id: requestId, tenant }, { projection: { _id: 1 } });
      if (!found) return null;
      const state = await foldedTo(requestId, seq);
      // The last stored version is the current one.
      const plan = [...state.plans.values()].at(-1) ?? null;
      const { seq: last, at, owner, epoch } = state;
      return { seq: last, at, owner, epoch, plan, steps: plan ? await stepsOf(tenant, plan) : [] };
    },

    /** The seq of the last entry of each journal, in the order of the ids; 0 without one. One read. */
    async readLastSeqs(tenant: string, requestIds: readonly RequestId[]): Promise<number[]> {
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

/**
 * Reads a request with its current plan; null for an unknown one. The plan is read with the request or after it:
 * the plan of an ended request has ended. Calls of the same turn share one read.
 */
function createReadWithPlan({ requests, plans }: Collections, unitReads: UnitReads) {
  return createTenantReads(
    async (tenant, ids: RequestId[]): Promise<RequestWithPlan[]> => {
      const found = await requests
        .aggregate<RequestDocument & { heads: StoredPlanHead[] }>(
          [
            { $match: { _id: { $in: ids }, tenant } },
            {
              $lookup: {
                from: plans.collectionName,
                localField: "planId",
                foreignField: "_id",
                pipeline: [...PLAN_HEAD],
                as: "heads",
              },
            },
          ],
          IN_ONE_BATCH,
        )
        .toArray();
      return Promise.all(
        found.map(async ({ heads, ...request }) => {
          const [plan = null] = await withDecisions(unitReads, heads);
          return { request, plan };
        }),
      );
    },
    ({ request }) => request._id,
  );
}

function createHeadReads(collections: Collections, unitReads: UnitReads) {
  const { plans, modelCalls } = collections;
  // Polling clients read these: many clients of one request cost MongoDB one read.
  const planHead = createTenantReads(
    (tenant, ids: PlanId[]) => readPlanHeads(collections, unitReads, { _id: { $in: ids }, tenant }),
    ({ _id }) => _id,
  );

  const planResults = createTenantReads(
    partsOf<PlanResults, PlanId>(plans, PARTS.planResults),
    ({ _id }) => _id,
  );

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
    /** In the order of the ids; null for unknown ones. Calls of the same turn share one read. */
    getPlanHeads: (tenant: string, planIds: readonly PlanId[]): Promise<(PlanHead | null)[]> =>
      Promise.all(planIds.map((id) => planHead(tenant, id))),
    /** All versions of the plans of many requests in one read; versions of one request newest first. */
    listPlanHeadsOf(tenant: string, requestIds: readonly PlanHead["requestId"][]) {
      const match = { tenant, requestId: { $in: [...requestIds] } };
      return readPlanHeads(collections, unitReads, match, { requestId: 1, version: -1 });
    },
    readPlanGraphs: partsOf<PlanGraph, PlanId>(plans, PARTS.planGraph),
    readPlanTexts: partsOf<PlanTexts, PlanId>(plans, PARTS.planTexts),
    // Clients wait for the results of plans: plans that end together share one read.
    readPlanResults: async (tenant: string, planIds: readonly PlanId[]): Promise<PlanResults[]> =>
      (await Promise.all(planIds.map((id) => planResults(tenant, id)))).flatMap((found) => found ?? []),
    /** Steps and items without their large values, in plan order, the steps of several plans in one read. */
    listStepHeads: async (tenant: string, planIds: readonly PlanId[]): Promise<StepRun[]> =>
      (await Promise.all(planIds.map((id) => unitReads.ofPlan(tenant, id)))).flatMap((read) =>
        read ? stepRuns(read) : [],
      ),
    /** Steps and items with the wanted values, in the same order: one read. */
    readStepValues(tenant: string, steps: readonly StepRun[], wanted: WantedValues): Promise<StepRun[]> {
      const own = steps.filter((unit) => unit.tenant === tenant);
      return withValues(
        unitReads.log,
        own.map((unit) => ({ requestId: unit.requestId, unit })),
        wanted,
      );
    },
    /** Calls of chat models for many requests in one read; calls for one request oldest first. */
    listModelCallHeadsOf: (tenant: string, requestIds: readonly RequestId[]): Promise<ModelCallHead[]> =>
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
    readModelCallTexts: partsOf<ModelCallTexts>(modelCalls, PARTS.modelCallTexts),
  };
}

/** Reads requests and all their records. */
export type ReadStore = ReturnType<typeof createReads>;
