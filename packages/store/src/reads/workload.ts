import { ENDED_REQUEST_STATUSES, type RequestId, type RequestStatus } from "@planwright/plan";
import type { Document } from "mongodb";
import { type Collections, TENANT_ENDED_INDEX } from "../database/collections.ts";
import type { ServerClock } from "../database/server-clock.ts";
import { MAX_COUNTED, type WaitingWork, waitingIn } from "../leases/fleet.ts";
import { heldBy, LEASED_COLLECTIONS, leasedCollection, type WorkOfRequest } from "../leases/lease-table.ts";

/** Running, waiting and recently ended work of one tenant. */
export interface Workload {
  at: Date;
  /** One hour before `at`. */
  since: Date;
  /** Requests that have ended, and whose last change was after `since`; counted up to {@link MAX_COUNTED}. */
  ended: number;
  /** Those of them that are FAILED or PARTIAL; counted up to {@link MAX_COUNTED}. */
  failed: number;
  /** Requests that a planner holds and plans that an executor holds; counted up to {@link MAX_COUNTED}. */
  running: number;
  /**
   * Requests and plans that may be claimed and that no worker holds; counted up to {@link MAX_COUNTED}. Of
   * each kind only this many of all tenants are scanned, those that have waited longest.
   */
  waiting: number;
  /** The waiting work that has waited longest; null when nothing waits. */
  oldest: WaitingWork["oldest"];
}

const HOUR_MS = 3_600_000;
const FAILED_STATUSES: ReadonlySet<RequestStatus> = new Set(["FAILED", "PARTIAL"]);

/** Reads the workload of a tenant by indexes; a document is read only for the oldest work. */
export async function readWorkload(
  collections: Collections,
  clock: ServerClock,
  tenant: string,
): Promise<Workload> {
  const { requests } = collections;
  const at = new Date(clock.now());
  const since = new Date(at.getTime() - HOUR_MS);
  // One count for each status: for a list of some statuses MongoDB does not use the partial index.
  const endedAs = async (status: RequestStatus): Promise<[RequestStatus, number]> => [
    status,
    await requests.countDocuments(
      { tenant, status, updatedAt: { $gte: since } },
      { limit: MAX_COUNTED, hint: TENANT_ENDED_INDEX },
    ),
  ];
  const heldIn = (name: (typeof LEASED_COLLECTIONS)[number]) => {
    const held = { ...heldBy(), tenant };
    return leasedCollection<WorkOfRequest>(collections, name).countDocuments(held, { limit: MAX_COUNTED });
  };
  const [ended, held, waiting] = await Promise.all([
    Promise.all(ENDED_REQUEST_STATUSES.map(endedAs)),
    Promise.all(LEASED_COLLECTIONS.map(heldIn)),
    Promise.all(LEASED_COLLECTIONS.map((name) => waitingIn(collections, name, at, tenant))),
  ]);
  const [oldest = null] = waiting
    .flatMap((kind) => kind.oldest ?? [])
    .toSorted((one, other) => one.since.getTime() - other.since.getTime());
  return {
    at,
    since,
    ended: sumOf(ended.map(([, count]) => count)),
    failed: sumOf(ended.flatMap(([status, count]) => (FAILED_STATUSES.has(status) ? count : []))),
    running: sumOf(held),
    waiting: sumOf(waiting.map(({ due }) => due)),
    oldest,
  };
}

function sumOf(counts: readonly number[]): number {
  return Math.min(
    MAX_COUNTED,
    counts.reduce((sum, count) => sum + count, 0),
  );
}

/** What the model calls of a tenant cost within a time. */
export interface ModelCosts {
  /** By model, the most expensive first, at most 50. */
  models: (ModelCost & { model: string })[];
  /** The most expensive requests, at most 10. Questions about contracts are none, and are part of the others. */
  requests: (ModelCost & { requestId: RequestId })[];
  total: ModelCost;
  /** False when there were more than {@link MAX_COSTED} calls: then only the newest of them are counted. */
  isComplete: boolean;
}

/** Sums over calls of models. */
export interface ModelCost {
  calls: number;
  /** Calls that failed. */
  failures: number;
  /** Calls that run, or whose planner died: their tokens and cost are not known, and not part of the sums. */
  unended: number;
  /** Calls of models whose price is not known: their cost is not part of `costUsd`. */
  unpriced: number;
  inputTokens: number;
  /** Those of them that came from the provider's cache. */
  cachedInputTokens: number;
  outputTokens: number;
  /** In US dollars. */
  costUsd: number;
}

const MAX_COSTED = 200_000;
const MAX_MODELS = 50;
const MAX_REQUESTS = 10;

const SUMS: Record<keyof ModelCost, Document> = {
  calls: { $sum: 1 },
  failures: countOf({ $ne: ["$error", null] }),
  // Absent: the call was recorded after its end.
  unended: countOf({ $eq: ["$endedAt", null] }),
  unpriced: countOf({ $eq: ["$pricing", "unpriced"] }),
  inputTokens: { $sum: "$inputTokens" },
  cachedInputTokens: { $sum: "$cachedInputTokens" },
  outputTokens: { $sum: "$outputTokens" },
  costUsd: { $sum: "$costUsd" },
};

const NO_COST = Object.fromEntries(Object.keys(SUMS).map((name) => [name, 0])) as Record<
  keyof ModelCost,
  number
>;

/** Sums the model calls of a tenant within a time, without the offline drafter's. Reads by an index. */
export async function readModelCosts(
  { modelCalls }: Collections,
  tenant: string,
  { from, before }: { from: Date; before: Date },
): Promise<ModelCosts> {
  const mostExpensive = (by: string, limit: number): Document[] => [
    { $group: { _id: by, ...SUMS } },
    { $sort: { costUsd: -1, calls: -1, _id: 1 } },
    { $limit: limit },
  ];
  type Summed<Id> = ModelCost & { _id: Id };
  const [found] = await modelCalls
    .aggregate<{ models: Summed<string>[]; requests: Summed<RequestId>[]; total: Summed<null>[] }>([
      { $match: { tenant, createdAt: { $gte: from, $lt: before }, attempt: { $gte: 1 } } },
      { $sort: { createdAt: -1 } },
      { $limit: MAX_COSTED },
      {
        $project: {
          model: 1,
          requestId: 1,
          purpose: 1,
          error: { $ifNull: ["$error.code", null] },
          endedAt: 1,
          pricing: 1,
          costUsd: 1,
          inputTokens: 1,
          cachedInputTokens: 1,
          outputTokens: 1,
        },
      },
      {
        $facet: {
          models: mostExpensive("$model", MAX_MODELS),
          requests: [
            { $match: { purpose: { $ne: "contracts" } } },
            ...mostExpensive("$requestId", MAX_REQUESTS),
          ],
          total: [{ $group: { _id: null, ...SUMS } }],
        },
      },
    ])
    .toArray();
  const { models = [], requests = [], total = [] } = found ?? {};
  const sums = total.map(({ _id, ...cost }) => cost)[0] ?? NO_COST;
  return {
    models: models.map(({ _id: model, ...cost }) => ({ model, ...cost })),
    requests: requests.map(({ _id: requestId, ...cost }) => ({ requestId, ...cost })),
    total: sums,
    isComplete: sums.calls < MAX_COSTED,
  };
}

function countOf(condition: Document): Document {
  return { $sum: { $cond: [condition, 1, 0] } };
}
