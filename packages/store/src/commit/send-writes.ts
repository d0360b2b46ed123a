import type { ClientBulkWriteModel, Collection, Document, MongoClient } from "mongodb";
import { isTimeLimit, isTransient } from "../database/transient-errors.ts";
import { type GroupedCollection, type PendingWrite, toUpdate } from "./pending-write.ts";

/** Where writes are sent and how long they are repeated. */
export interface SendOptions {
  database: string;
  /** How long writes are sent again while MongoDB does not answer, in milliseconds. */
  retryForMs: number;
  /** Waits between tries, in milliseconds. */
  retryEveryMs: number;
  /** How long a bulk may wait for locks, in milliseconds. */
  stuckAfterMs: number;
}

/** The writes that were done, each with its document if the caller wants it. */
type Done = Map<PendingWrite, Document | null>;

type StringKeyed = Document & { _id: string };
/** The driver types documents by namespace. */
type Schemas = Record<string, StringKeyed>;

/** Sends writes to different documents as one command, and repeats it while MongoDB does not answer. */
export type SendWrites = (batch: readonly PendingWrite[], wasSent: boolean) => Promise<Done>;

/**
 * A write that is repeated may have been done before. A document that has its `writeId` is not written again,
 * and shows that the write is done. A bulk that waits too long for locks is not repeated: its error is
 * thrown, like every error that a repeat does not help.
 */
export function createSendWrites(client: MongoClient, options: SendOptions): SendWrites {
  const { database, retryForMs, retryEveryMs, stuckAfterMs } = options;
  const db = client.db(database);

  function collectionOf(name: GroupedCollection): Collection<StringKeyed & { writeId: string | null }> {
    return db.collection(name);
  }

  /** A single write costs MongoDB and the driver a third less than a bulk of one. */
  async function sendOne(write: PendingWrite, isRepeat: boolean): Promise<Done> {
    const { filter, update } = toUpdate(write, isRepeat);
    const collection = collectionOf(write.collection);
    const settings = { maxTimeMS: stuckAfterMs };
    if (!write.wantsDocument) {
      const { matchedCount } = await collection.updateOne(filter, update, settings);
      return new Map(matchedCount === 1 ? [[write, null]] : []);
    }
    const document = await collection.findOneAndUpdate(filter, update, {
      ...settings,
      returnDocument: "after",
    });
    return new Map(document ? [[write, document]] : []);
  }

  async function sendBulk(batch: readonly PendingWrite[], isRepeat: boolean): Promise<Done> {
    const models = batch.map((write): ClientBulkWriteModel<Schemas> => {
      const namespace = `${database}.${write.collection}`;
      return { name: "updateOne", namespace, ...toUpdate(write, isRepeat) };
    });
    const settings = { ordered: false, verboseResults: true, maxTimeMS: stuckAfterMs } as const;
    const { updateResults } = await client.bulkWrite<Schemas>(models, settings);
    return readDocuments(batch.filter((_, index) => updateResults?.get(index)?.matchedCount === 1));
  }

  /** Finds the writes that were done, by this try or an earlier one. */
  async function findDone(batch: readonly PendingWrite[]): Promise<Done> {
    const found = await findById(batch, { writeId: 1 });
    return readDocuments(batch.filter(({ key, writeId }) => found.get(key)?.["writeId"] === writeId));
  }

  async function readDocuments(done: readonly PendingWrite[]): Promise<Done> {
    const documents = await findById(done.filter(({ wantsDocument }) => wantsDocument));
    return new Map(done.map((write) => [write, documents.get(write.key) ?? null]));
  }

  async function findById(
    writes: readonly PendingWrite[],
    projection: Document = {},
  ): Promise<Map<string, Document>> {
    const found = new Map<string, Document>();
    for (const name of new Set(writes.map(({ collection }) => collection))) {
      const ids = writes.flatMap(({ collection, id }) => (collection === name ? [id] : []));
      const documents = collectionOf(name).find({ _id: { $in: ids } }, { projection });
      for await (const document of documents) found.set(`${name}/${document._id}`, document);
    }
    return found;
  }

  return async (batch, wasSent) => {
    const deadlineAt = performance.now() + retryForMs;
    for (let isRepeat = wasSent; ; isRepeat = true) {
      try {
        const [first] = batch;
        const done =
          first && batch.length === 1 ? await sendOne(first, isRepeat) : await sendBulk(batch, isRepeat);
        return isRepeat && done.size < batch.length ? await findDone(batch) : done;
      } catch (error) {
        if (performance.now() > deadlineAt || !isTransient(error)) throw error;
        if (batch.length > 1 && isTimeLimit(error)) throw error;
        await new Promise((resolve) => setTimeout(resolve, retryEveryMs));
      }
    }
  };
}
