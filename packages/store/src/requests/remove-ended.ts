/**
 * Removal of requests that ended long ago, with all their records (docs/architecture.md, J8).
 *
 * 1. A removal begins with an entry of the journal, `removal.began`. It takes the next seq, so of a simultaneous
 *    change and removal one is first: a change that comes second finds this entry and is refused, and a removal
 *    that comes second does nothing.
 * 2. Before that, in this order, it reads the last seq and the request's document. Changes of requests that have
 *    ended are one transaction, so the document has every change up to that seq.
 * 3. From then on the request's document goes first, so that no client finds its records, and the entry
 *    `removal.began` last: it refuses changes as long as there is anything to be changed.
 * 4. A change that was decided before, and is written after all this, finds no document of the request: its
 *    transaction writes nothing.
 * 5. A removal that has begun is noted in `removals` until everything is removed. After a crash the next
 *    removal continues: before the note the request is still found as an old one, and afterwards by the note.
 */
import type { JournalEntry } from "@planwright/engine";
import { ENDED_REQUEST_STATUSES, groupBy, type RequestId } from "@planwright/plan";
import type { Document } from "mongodb";
import { z } from "zod";
import type { Collections } from "../database/collections.ts";
import { insertUnlessThere, isDuplicateKey } from "../database/transient-errors.ts";
import { idsAfter, toJournalDocument } from "../journal/entry-log.ts";
import type { JournalDocument, RemovalDocument } from "../records/request-document.ts";

/** How long requests that ended are kept, in days. */
export const RetentionDaysSchema = z
  .union([z.literal("never"), z.coerce.number().int().min(1).max(36_500)])
  .default(30);
export type RetentionDays = z.infer<typeof RetentionDaysSchema>;

/** The request has ended, and no planner has work for it: a filter, which finds an index. */
const REMOVABLE = { status: { $in: ENDED_REQUEST_STATUSES }, dueAt: null, lease: null };
/** The same as an expression about the field `request`. */
export const IS_REMOVABLE = {
  $and: [
    { $in: ["$request.status", ENDED_REQUEST_STATUSES] },
    // Also true of a field that is absent, as in the filter.
    { $lte: ["$request.dueAt", null] },
    { $lte: ["$request.lease", null] },
  ],
};

/** Options of {@link removeEnded}. */
export interface RemoveEnded {
  /** Only requests that have not changed since this time. */
  endedBefore: Date;
  limit: number;
}

/** Removes ended requests, the oldest first, and returns their number. Safe in many processes at once. */
export async function removeEnded(
  collections: Collections,
  { endedBefore, limit }: RemoveEnded,
  by: string,
): Promise<number> {
  const { requests, removals } = collections;
  const isOld = { ...REMOVABLE, updatedAt: { $lt: endedBefore } };
  const noted = await removals.find().limit(limit).toArray();
  const found = await requests
    .find(isOld, { projection: { tenant: 1 } })
    .sort({ updatedAt: 1 })
    .limit(limit - noted.length || 1)
    .toArray();
  const fresh = noted.length < limit ? found.map(({ _id, tenant }) => ({ _id, tenant })) : [];
  const isNoted = new Set(noted.map(({ _id }) => _id));
  const all = [...noted, ...fresh.filter(({ _id }) => !isNoted.has(_id))];
  const hasBegun = await Promise.all(all.map(({ _id }) => beginRemoval(collections, _id, { isOld, by })));
  const begun = all.filter((_, index) => hasBegun[index]);
  await Promise.all(begun.map((one) => insertUnlessThere(removals, one)));
  await removeRequests(collections, begun);
  // The ids of the calls for questions about contracts begin with the time of the question.
  const before = `contracts_${Math.floor(endedBefore.getTime() / 1_000)}`;
  await collections.modelCalls.deleteMany({ _id: { $gte: "contracts_", $lt: before } });
  const done = [...begun, ...noted].map(({ _id }): RequestId => _id);
  if (done.length > 0) await removals.deleteMany({ _id: { $in: done } });
  return begun.length;
}

/** Appends `removal.began`. False when the request is not old any more; true also when an earlier removal has begun. */
async function beginRemoval(
  { requests, journal }: Collections,
  requestId: RequestId,
  { isOld, by }: { isOld: object; by: string },
): Promise<boolean> {
  const last = await lastEntry(journal, requestId);
  if (last?.events.some(({ type }) => type === "removal.began")) return true;
  const request = await requests.findOne({ _id: requestId, ...isOld });
  if (!request) return (await requests.findOne({ _id: requestId })) === null;
  const { tenant, planId } = request;
  const seq = (last?.seq ?? 0) + 1;
  const entry: JournalEntry = {
    requestId,
    tenant,
    planId,
    seq,
    by: { kind: "executor", id: by },
    at: new Date(),
    writeId: `${by}:removal:${requestId}:${seq}`,
    events: [{ type: "removal.began" }],
  };
  try {
    await journal.insertOne(toJournalDocument(entry));
    return true;
  } catch (error) {
    // Another entry has this seq: of a change, or of a removal by another process, which does the rest.
    if (!isDuplicateKey(error)) throw error;
    return false;
  }
}

/** Removes requests, and then all their records; of the journal the last entry goes last. */
async function removeRequests(
  { requests, plans, journal, outputs, modelCalls }: Collections,
  begun: readonly RemovalDocument[],
): Promise<void> {
  for (const [tenant, removals] of groupBy(begun, (removal) => removal.tenant)) {
    const ids = removals.map(({ _id }) => _id);
    await requests.deleteMany({ _id: { $in: ids } });
    const ofRequests = { tenant, requestId: { $in: ids } };
    const versions = await plans.find(ofRequests, { projection: { _id: 1 } }).toArray();
    const planIds = versions.map(({ _id }) => _id);
    await Promise.all([
      outputs.deleteMany({ tenant, planId: { $in: planIds } }),
      modelCalls.deleteMany(ofRequests),
      ...ids.map((requestId) => removeEntriesButLast(journal, requestId)),
    ]);
    // Plans are removed after their outputs: their ids are needed to find these.
    await plans.deleteMany(ofRequests);
    await journal.deleteMany({ $or: ids.map((requestId) => ({ _id: idsAfter({ requestId, seq: 0 }) })) });
  }
}

async function removeEntriesButLast(journal: Collections["journal"], requestId: RequestId): Promise<void> {
  const last = await lastEntry(journal, requestId, { _id: 1 });
  if (last) await journal.deleteMany({ _id: { ...idsAfter({ requestId, seq: 0 }), $lt: last._id } });
}

/** @param projection - default: the whole entry */
async function lastEntry(
  journal: Collections["journal"],
  requestId: RequestId,
  projection: Document = {},
): Promise<JournalDocument | undefined> {
  const found = journal.find({ _id: idsAfter({ requestId, seq: 0 }) }, { projection });
  return (await found.sort({ _id: -1 }).limit(1).toArray())[0];
}
