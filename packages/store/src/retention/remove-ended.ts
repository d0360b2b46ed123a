/**
 * Removal of requests that ended long ago, with all their records (DESIGN §6, J8).
 *
 * 1. A removal is noted in `removals` until everything is removed: after a crash the next removal continues.
 * 2. The request itself is removed first, in one conditional write: of a simultaneous rerun and removal one
 *    succeeds. Without the request no client finds its records.
 */
import { ENDED_REQUEST_STATUSES, type RequestId } from "@planwright/plan";
import type { Collections } from "../database/collections.ts";
import { isDuplicateKey } from "../database/transient-errors.ts";
import { idsAfter } from "../journal/entry-log.ts";
import type { RemovalDocument } from "../records/request-document.ts";

/** Options of {@link removeEnded}. */
export interface RemoveEnded {
  /** Only requests that have not changed since this time. */
  endedBefore: Date;
  /** Maximum number of requests. */
  limit: number;
}

/**
 * Removes ended requests, the oldest first. Returns their number, which is below `limit` when there are no
 * more. Safe in many processes at once.
 */
export async function removeEnded(
  collections: Collections,
  { endedBefore, limit }: RemoveEnded,
): Promise<number> {
  const { requests, removals } = collections;
  const isOld = {
    status: { $in: ENDED_REQUEST_STATUSES },
    // No planner has work for it.
    dueAt: null,
    lease: null,
    updatedAt: { $lt: endedBefore },
  };
  const begun = await removals.find().limit(limit).toArray();
  const found = await requests
    .find(isOld, { projection: { tenant: 1 } })
    .sort({ updatedAt: 1 })
    .limit(limit - begun.length || 1)
    .toArray();
  const fresh = begun.length < limit ? found.map(({ _id, tenant }) => ({ _id, tenant })) : [];
  await noteRemovals(collections, fresh);
  const all = [...begun, ...fresh];
  if (all.length === 0) return 0;
  const ids = all.map(({ _id }): RequestId => _id);
  await requests.deleteMany({ _id: { $in: ids }, ...isOld });
  const kept = await requests.find({ _id: { $in: ids } }, { projection: { _id: 1 } }).toArray();
  const isKept = new Set(kept.map(({ _id }) => _id));
  const gone = all.filter(({ _id }) => !isKept.has(_id));
  await removeRecords(collections, gone);
  await removals.deleteMany({ _id: { $in: ids } });
  return gone.length;
}

async function noteRemovals(
  { removals }: Pick<Collections, "removals">,
  fresh: readonly RemovalDocument[],
): Promise<void> {
  if (fresh.length === 0) return;
  try {
    await removals.insertMany(fresh, { ordered: false });
  } catch (error) {
    // Another process removes the same requests.
    if (!isDuplicateKey(error)) throw error;
  }
}

async function removeRecords(
  { plans, journal, outputs, modelCalls }: Collections,
  gone: readonly RemovalDocument[],
): Promise<void> {
  for (const [tenant, ids] of byTenant(gone)) {
    const ofRequests = { tenant, requestId: { $in: ids } };
    const versions = await plans.find(ofRequests, { projection: { _id: 1 } }).toArray();
    const planIds = versions.map(({ _id }) => _id);
    const ranges = ids.map((requestId) => ({ _id: idsAfter({ requestId, seq: 0 }) }));
    await Promise.all([
      journal.deleteMany({ $or: ranges }),
      outputs.deleteMany({ tenant, planId: { $in: planIds } }),
      modelCalls.deleteMany(ofRequests),
    ]);
    // Plans are removed last: their ids are needed to find the outputs.
    await plans.deleteMany(ofRequests);
  }
}

function byTenant(gone: readonly RemovalDocument[]): Map<string, RequestId[]> {
  const ids = new Map<string, RequestId[]>();
  for (const { _id, tenant } of gone) ids.set(tenant, [...(ids.get(tenant) ?? []), _id]);
  return ids;
}

/** Removes old requests, so that the database does not grow for ever. */
export interface RetentionStore {
  /**
   * Removes requests that ended and have not changed since a time, with their plans, journals, outputs and
   * model calls, the oldest first. Returns their number, which is below `limit` when there are no more.
   */
  removeEnded(which: RemoveEnded): Promise<number>;
}
