import type { JournalEntry } from "@planwright/engine";
import { BSON, type ClientBulkWriteModel, type Collection, type Document, MongoServerError } from "mongodb";
import type { Collections } from "../database/collections.ts";
import { insertUnlessThere } from "../database/insert-unless-there.ts";
import { isBulkOfDuplicates, isDuplicateKey } from "../database/transient-errors.ts";
import type { JournalDocument, OutboxDocument } from "../records/journal-documents.ts";
import { entryIdOf, toEntry, toJournalDocument } from "./entry-log.ts";
import { RequestRemovedError } from "./errors.ts";

/** The collections whose documents follow the journal. */
export type FollowingCollection = "requests" | "plans" | "modelCalls";

/**
 * A write that follows from an entry. It changes nothing when it is repeated, or done after writes of later
 * entries.
 */
export type FollowingWrite = { collection: FollowingCollection } & (
  | { /** Unless it is there. */ insert: Document & { _id: string } }
  | { filter: Document /** Values by field. */; set: Document }
  | { filter: Document /** Expressions by field. */; expressions: Document }
);

/** An entry, and the writes that follow from it. */
export interface Turn {
  entry: JournalEntry;
  /** In this order. */
  following: readonly FollowingWrite[];
  /**
   * The writes cannot be derived from the entry: they are kept in the outbox until they are done. Default
   * false: the next process that works on the request derives and does them.
   */
  isKept?: boolean | undefined;
}

/**
 * Stores turns: the part that differs between MongoDB and memory. An append that failed may have done all of
 * its writes, or only the first ones.
 */
export interface TurnLog {
  /**
   * Appends the entry if its seq is free, and does the writes that follow. Durable when it resolves. A repeat
   * changes nothing. Returns the other entry if the seq is taken.
   * @throws {RequestRemovedError} when a document that follows is not there any more. An update that matches
   *   nothing because of its other conditions was done before, or later writes replace it.
   */
  append(turn: Turn): Promise<JournalEntry | undefined>;
  /**
   * Does the writes that follow from a stored entry.
   * @throws {RequestRemovedError} as `append`; documents that it inserted are removed again
   */
  follow(following: readonly FollowingWrite[]): Promise<void>;
}

/** The outbox document of a turn, kept until its writes are done. */
export function toOutbox({ entry, following }: Turn): OutboxDocument {
  const { writeId, requestId, at } = entry;
  return {
    _id: writeId,
    requestId,
    createdAt: at,
    writes: BSON.serialize({ following }, { ignoreUndefined: true }),
  };
}

/** The writes in an outbox document. */
export function fromOutbox({ writes }: OutboxDocument): FollowingWrite[] {
  const bytes = writes instanceof BSON.Binary ? writes.value() : writes;
  return BSON.deserialize(bytes as Uint8Array)["following"];
}

type Schemas = Record<string, Document & { _id: string }>;
type Model = ClientBulkWriteModel<Schemas>;

/**
 * Turns in MongoDB.
 * @param collections - of a client with majority and journalled writes that does not repeat writes by itself
 */
export function createMongoTurnLog(
  collections: Pick<Collections, "client" | "journal" | "outbox" | FollowingCollection>,
): TurnLog {
  const { client, journal, outbox } = collections;

  function toModel(write: FollowingWrite): Model {
    const { namespace } = collections[write.collection];
    if ("insert" in write) return { name: "insertOne", namespace, document: write.insert };
    return { name: "updateOne", namespace, filter: write.filter, update: updateOf(write) };
  }

  /** Sends all writes in one command, so that a process that dies has sent all of them or none. */
  async function send(models: readonly Model[]): Promise<{ matchedCount: number; upsertedCount: number }> {
    const [only] = models;
    // A single insert costs MongoDB and the driver less than a bulk of one.
    if (only?.name !== "insertOne" || models.length > 1)
      return client.bulkWrite<Schemas>(models, { ordered: true });
    await journal.insertOne(only.document as JournalDocument);
    return { matchedCount: 0, upsertedCount: 0 };
  }

  // The types of the collections differ; each write is made for its collection.
  const collectionOf = ({ collection }: FollowingWrite): Collection<Schemas[string]> =>
    collections[collection] as unknown as Collection<Schemas[string]>;

  /** After an update that matched nothing. */
  async function requireTargets(following: readonly FollowingWrite[]): Promise<void> {
    for (const write of following) {
      if ("insert" in write) continue;
      const { _id } = write.filter;
      const found = await collectionOf(write).findOne({ _id }, { projection: { _id: 1 } });
      if (found) continue;
      const inserts = following.flatMap((other) => ("insert" in other ? [other] : []));
      for (const other of inserts) await collectionOf(other).deleteOne({ _id: other.insert._id });
      throw new RequestRemovedError({ id: String(_id) });
    }
  }

  /** Does the writes one by one: each may have been done before. */
  async function follow(following: readonly FollowingWrite[]): Promise<void> {
    let isMissed = false;
    for (const write of following) {
      if ("insert" in write) await insertUnlessThere(collectionOf(write), write.insert);
      else {
        const { matchedCount } = await collectionOf(write).updateOne(write.filter, updateOf(write));
        isMissed ||= matchedCount === 0;
      }
    }
    if (isMissed) await requireTargets(following);
  }

  /** Appends a turn whose seq may be taken: by another entry, or by its own. */
  async function appendOrFind(turn: Turn, models: readonly Model[]): Promise<JournalEntry | undefined> {
    const { entry, following, isKept = false } = turn;
    try {
      const { matchedCount, upsertedCount } = await send(models);
      const updates = following.filter((write) => !("insert" in write)).length;
      // On a repeat the document in the outbox is matched too.
      const isOutboxMatched = isKept && upsertedCount === 0;
      if (matchedCount - Number(isOutboxMatched) < updates) await requireTargets(following);
      return undefined;
    } catch (error) {
      if (!isDuplicateOnly(error)) throw error;
    }
    const found = await journal.findOne({ _id: entryIdOf(entry) });
    const isOwn = found?.writeId === entry.writeId;
    if (isOwn) await follow(following);
    if (isKept) await outbox.deleteOne({ _id: entry.writeId });
    return isOwn ? undefined : found ? toEntry(found) : entry;
  }

  return {
    follow,
    async append(turn) {
      const { entry, following, isKept } = turn;
      const filter = { _id: entry.writeId };
      const { namespace } = outbox;
      const insert: Model = {
        name: "insertOne",
        namespace: journal.namespace,
        document: toJournalDocument(entry),
      };
      const models: Model[] = [insert, ...following.map(toModel)];
      if (isKept) {
        models.unshift({ name: "replaceOne", namespace, filter, replacement: toOutbox(turn), upsert: true });
        models.push({ name: "deleteOne", namespace, filter });
      }
      try {
        return await appendOrFind(turn, models);
      } catch (error) {
        if (!(error instanceof RequestRemovedError)) throw error;
        // The entry is taken back, so that no reader and no other process finds it.
        await journal.deleteOne({ _id: entryIdOf(entry), writeId: entry.writeId });
        await outbox.deleteOne(filter);
        throw error;
      }
    },
  };
}

function updateOf(write: Exclude<FollowingWrite, { insert: unknown }>): Document | Document[] {
  return "set" in write ? { $set: write.set } : [{ $set: write.expressions }];
}

/**
 * True when the only errors are duplicate keys: the seq was taken, or a write that follows was done before.
 */
function isDuplicateOnly(error: unknown): boolean {
  return (error instanceof MongoServerError && isDuplicateKey(error)) || isBulkOfDuplicates(error);
}
