/**
 * Reading is folding (DESIGN §6, J5): where the units of plans stand. Of a request that was read before only
 * the entries behind are read, without outputs and arguments.
 */
import { emptyRequest, type FoldedRequest, fold, type JournalEntry } from "@planwright/engine";
import type { PlanId, RequestId } from "@planwright/plan";
import { LRUCache } from "lru-cache";
import type { Collections } from "../database/collections.ts";
import { createTenantReads } from "../database/read-group.ts";
import type { EntryLog } from "./entry-log.ts";
import { OUTLINE, outlineOf, type PlanOutline, type PlanState } from "./plan-units.ts";

/** Units of the requests that are kept, at most: about a KiB each. */
const KEPT_UNITS = 50_000;
/** Entries of a request that are folded at once. */
const TAIL_PART = 1_000;
/** Steps of the outlines that are kept, at most. */
const KEPT_STEPS = 100_000;

/** A plan with its units. It never changes: what comes later is in the next one. */
export interface PlanUnits extends PlanState {
  /** Its request, with all versions. */
  request: FoldedRequest;
  /** The place of the last entry that was folded. */
  seq: number;
}

/** Reads of units, bound to a tenant. */
export interface UnitReads {
  /**
   * The plan's units now; undefined for an unknown plan, and for another tenant's. Asked by many in one turn,
   * it is one read.
   */
  ofPlan(tenant: string, planId: PlanId): Promise<PlanUnits | undefined>;
  /** A request as its journal tells it now. The caller knows that it is the tenant's. */
  ofRequest(requestId: RequestId): Promise<FoldedRequest>;
  /** The log that they are read from. */
  log: EntryLog;
}

/** Reads of units over the journal. */
export function createUnitReads({ plans }: Pick<Collections, "plans">, log: EntryLog): UnitReads {
  const requests = new LRUCache<string, FoldedRequest>({
    maxSize: KEPT_UNITS,
    sizeCalculation: ({ plans: all }) => [...all.values()].reduce((sum, { units }) => sum + units.size, 1),
  });
  const outlines = new LRUCache<PlanId, PlanOutline>({
    maxSize: KEPT_STEPS,
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
    const behind = [...before.values()].map(({ requestId, seq }) => ({ requestId, seq }));
    const now = new Map(before);
    let tail: JournalEntry[] = [];
    const foldTail = (): void => {
      const [first] = tail;
      const known = first && now.get(first.requestId);
      if (known) keep(fold(known, tail));
      tail = [];
    };
    const keep = (request: FoldedRequest): void => {
      const { requestId, seq } = request;
      now.set(requestId, request);
      if (seq > (requests.get(requestId)?.seq ?? 0)) requests.set(requestId, request);
    };
    // The entries of one request are in memory at a time.
    for await (const entry of log.readTails(behind)) {
      if (tail[0]?.requestId !== entry.requestId || tail.length === TAIL_PART) foldTail();
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
