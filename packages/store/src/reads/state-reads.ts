/** States of requests at an entry of their journals. */
import { advance, emptyRequest, type FoldedPlan, type FoldedRequest, fold } from "@planwright/engine";
import type { PlanId, RequestId } from "@planwright/plan";
import { LRUCache } from "lru-cache";
import type { Collections } from "../database/collections.ts";
import { readLists } from "../database/read-lists.ts";
import { type EntryLog, idsAfter } from "../journal/entry-log.ts";
import { OUTLINE, outlineOf, toStepDocument, toStepHead, unitsInOrder } from "../journal/plan-units.ts";
import type { RequestState, StateReads, StepAt } from "../records/document-heads.ts";
import type { JournalDocument } from "../records/journal-documents.ts";

/**
 * Maximum number of units in cached states: for a reader that moves forward through a journal each entry is
 * read once.
 */
const MAX_CACHED_UNITS = 20_000;

/** The part of the store that reads journals up to an entry. */
export function createStateReads(
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
