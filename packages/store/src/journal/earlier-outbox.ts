import { BSON, type Db, type Document } from "mongodb";
import type { Collections } from "../database/collections.ts";
import { entryIdOf } from "./entry-log.ts";
import { followOneByOne, type HeadWrite } from "./pending-write.ts";

/** A document of the outbox: the writes that follow from the entry with this `writeId`, until they are done. */
interface OutboxDocument {
  _id: string;
  requestId: string;
  /** `{following: [..]}` as BSON. */
  writes: Uint8Array | InstanceType<typeof BSON.Binary>;
}

/** A write in such a document. */
type EarlierWrite = Pick<HeadWrite, "collection"> &
  (
    | { insert: Document & { _id: string } }
    | ({ filter: Document } & ({ set: Document; stamps?: string[] } | { expressions: Document }))
  );

/**
 * Does what an earlier version of this program left undone when it died: its changes of requests were not one
 * transaction, and the writes behind an entry were kept in the collection `outbox` until they were done. This
 * version writes nothing there, so this is needed once, when a store is opened. A repeat changes nothing. Documents
 * without an entry belong to changes that were never made.
 */
export async function settleEarlierOutbox(
  db: Db,
  collections: Pick<Collections, "journal" | HeadWrite["collection"]>,
): Promise<void> {
  const outbox = db.collection<OutboxDocument>("outbox");
  for (const kept of await outbox.find().toArray()) {
    const { _id: writeId, requestId } = kept;
    const entry = await collections.journal.findOne(
      { requestId, writeId, _id: { $gt: `${requestId}/`, $lt: `${requestId}/:` } },
      { projection: { requestId: 1, seq: 1 } },
    );
    if (!entry) continue;
    const request = await collections.requests.findOne(
      { _id: entry.requestId as never },
      { projection: { _id: 1 } },
    );
    // A request that was removed meanwhile gets nothing back.
    if (request) await followOneByOne(collections, writesOf(kept));
    else await collections.journal.deleteOne({ _id: entryIdOf(entry), writeId });
    await outbox.deleteOne({ _id: writeId });
  }
}

function writesOf({ writes }: OutboxDocument): HeadWrite[] {
  const bytes = writes instanceof BSON.Binary ? writes.value() : writes;
  const kept: EarlierWrite[] = BSON.deserialize(bytes as Uint8Array)["following"];
  return kept.map((write) => {
    if ("insert" in write) return write as HeadWrite;
    const { collection, filter, ...change } = write;
    const { _id: id, ...condition } = filter;
    const target = { collection, id: String(id), condition };
    if ("expressions" in change) return { ...target, expressions: change.expressions } as HeadWrite;
    const stamped = (change.stamps ?? []).map((field) => [field, new Date()]);
    return { ...target, set: { ...change.set, ...Object.fromEntries(stamped) } } as HeadWrite;
  });
}
