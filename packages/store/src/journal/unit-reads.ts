/**
 * Reading is folding (DESIGN §6, J5): the states of the units of plans. For a request that was read before,
 * only later entries are read, without outputs and arguments.
 */
import { emptyRequest, type FoldedRequest, fold, type JournalEntry } from "@planwright/engine";
import type { PlanId, RequestId } from "@planwright/plan";
import { LRUCache } from "lru-cache";
import type { Collections } from "../database/collections.ts";
import { createTenantReads } from "../database/read-group.ts";
import type { EntryLog } from "./entry-log.ts";
import { OUTLINE, outlineOf, type PlanOutline, type PlanState } from "./plan-units.ts";

/** Maximum number of units in cached requests: about one KiB each. */
const MAX_CACHED_UNITS = 50_000;
/** Maximum number of entries of a request that are in memory at once. */
const MAX_TAIL = 1_000;
/** Maximum number of steps in cached outlines. */
const MAX_CACHED_STEPS = 100_000;

/** A plan with its units. It is immutable: later entries are in the next object. */
export interface PlanUnits extends PlanState {
  /** Its request, with all versions. */
  request: FoldedRequest;
  /** The seq of the last entry that was folded. */
  seq: number;
}

/** Reads of units, bound to a tenant. */
export interface UnitReads {
  /**
   * The plan's units now; undefined for an unknown plan, and for another tenant's. Calls of the same turn
   * share one read.
   */
  ofPlan(tenant: string, planId: PlanId): Promise<PlanUnits | undefined>;
  /** The current folded state of a request. The caller has checked its tenant. */
  ofRequest(requestId: RequestId): Promise<FoldedRequest>;
  /** The log that is read. */
  log: EntryLog;
}

/** Reads of units over the journal. */
export function createUnitReads({ plans }: Pick<Collections, "plans">, log: EntryLog): UnitReads {
  const requests = new LRUCache<string, FoldedRequest>({
    maxSize: MAX_CACHED_UNITS,
    sizeCalculation: ({ plans: all }) => [...all.values()].reduce((sum, { units }) => sum + units.size, 1),
  });
  const outlines = new LRUCache<PlanId, PlanOutline>({
    maxSize: MAX_CACHED_STEPS,
    sizeCalculation: ({ steps }) => steps.length + 1,
  });

  async function outlinesOf(tenant: string, planIds: readonly PlanId[]): Promise<PlanOutline[]> {
    const unknown = planIds.filter((id) => !outlines.has(id));
    const found =
      unknown.length === 0
        ? []
        : await plans.find({ _id: { $in: [...unknown] } }, { projection: OUTLINE }).toArray();
    const read = new Map(found.map((plan) => [plan._id, outlineOf(plan)]));
    for (const [id, outline] of read) outlines.set(id, outline);
    const all = planIds.flatMap((id) => read.get(id) ?? outlines.get(id) ?? []);
    return all.filter((outline) => outline.tenant === tenant);
  }

  async function requestsOf(requestIds: readonly string[]): Promise<Map<string, FoldedRequest>> {
    const before = new Map(requestIds.map((id) => [id, requests.get(id) ?? emptyRequest(id)]));
    const known = [...before.values()].map(({ requestId, seq }) => ({ requestId, seq }));
    const now = new Map(before);
    let tail: JournalEntry[] = [];
    const foldTail = (): void => {
      const [first] = tail;
      const folded = first && now.get(first.requestId);
      if (folded) keep(fold(folded, tail));
      tail = [];
    };
    const keep = (request: FoldedRequest): void => {
      const { requestId, seq } = request;
      now.set(requestId, request);
      if (seq > (requests.get(requestId)?.seq ?? 0)) requests.set(requestId, request);
    };
    // Only entries of one request are in memory at a time.
    for await (const entry of log.readTails(known)) {
      if (tail[0]?.requestId !== entry.requestId || tail.length === MAX_TAIL) foldTail();
      tail.push(entry);
    }
    foldTail();
    return now;
  }

  const read = createTenantReads(
    async (tenant, planIds: PlanId[]): Promise<PlanUnits[]> => {
      const found = await outlinesOf(tenant, planIds);
      const folded = await requestsOf([...new Set(found.map(({ requestId }) => requestId))]);
      return found.map((outline) => {
        const request = folded.get(outline.requestId) ?? emptyRequest(outline.requestId);
        return { outline, request, plan: request.plans.get(outline._id), seq: request.seq };
      });
    },
    ({ outline }) => outline._id,
  );

  return {
    ofPlan: async (tenant, id) => (await read({ tenant, id }))[0],
    ofRequest: async (id) => (await requestsOf([id])).get(id) ?? emptyRequest(id),
    log,
  };
}
