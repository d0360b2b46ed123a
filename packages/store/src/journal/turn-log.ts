import type { JournalEntry } from "@planwright/engine";
import { BSON, type ClientBulkWriteModel, type Collection, type Document, MongoServerError } from "mongodb";
import type { Collections } from "../database/collections.ts";
import { insertUnlessThere } from "../database/insert-unless-there.ts";
import { isBulkOfDuplicates, isDuplicateKey } from "../database/transient-errors.ts";
import type { JournalDocument, OutboxDocument } from "../records/journal-documents.ts";
import { placeOf, toEntry, toJournalDocument } from "./entry-log.ts";

/** The collections whose documents follow the journal. */
export type FollowingCollection = "requests" | "plans" | "modelCalls";

/** A write that follows from an entry. Done again, or behind what came later, it changes nothing. */
export type Following = { collection: FollowingCollection } & (
  | { /** Unless it is there. */ insert: Document & { _id: string } }
  | { filter: Document /** Values by field. */; set: Document }
  | { filter: Document /** Expressions by field. */; expressions: Document }
);

/** An entry, and what follows from it. */
export interface Turn {
  entry: JournalEntry;
  /** In this order. */
  following: readonly Following[];
  /**
   * What follows cannot be made from the entry again: it is kept in the outbox until it is done. Default
   * false: the next process that works on the request does it again.
   */
  isKept?: boolean | undefined;
}

/**
 * Where turns go: the part of them that differs between MongoDB and memory. An append that failed may have
 * been done as a whole, or up to one of its writes.
 */
export interface TurnLog {
  /**
   * Appends the entry where its place is free, and does what follows. Durable when it answers. Done again it
   * changes nothing. Returns the entry that stands there instead.
   */
  append(turn: Turn): Promise<JournalEntry | undefined>;
  /** Does what follows from an entry that is there. */
  follow(following: readonly Following[]): Promise<void>;
}

/** What is kept of a turn until what follows from it is done. */
export function toOutbox({ entry, following }: Turn): OutboxDocument {
  const { writeId, requestId, at } = entry;
  return {
    _id: writeId,
    requestId,
    createdAt: at,
    writes: BSON.serialize({ following }, { ignoreUndefined: true }),
  };
}

/** What was kept. */
export function fromOutbox({ writes }: OutboxDocument): Following[] {
  const bytes = writes instanceof BSON.Binary ? writes.value() : writes;
  return BSON.deserialize(bytes as Uint8Array)["following"];
}

type Schemas = Record<string, Document & { _id: string }>;
type Model = ClientBulkWriteModel<Schemas>;

/**
 * Turns in MongoDB.
 * @param collections - of a client with majority and journalled writes, that repeats no write by itself
 */
export function createMongoTurnLog(
  collections: Pick<Collections, "client" | "journal" | "outbox" | FollowingCollection>,
): TurnLog {
  const { client, journal, outbox } = collections;

  function toModel(write: Following): Model {
    const { namespace } = collections[write.collection];
    if ("insert" in write) return { name: "insertOne", namespace, document: write.insert };
    return { name: "updateOne", namespace, filter: write.filter, update: updateOf(write) };
  }

  /** In one command: a process that dies leaves all of them, or none. */
  async function send(models: readonly Model[]): Promise<void> {
    const [only] = models;
    // Alone an entry costs MongoDB and the driver less than in a bulk of one.
    if (only?.name === "insertOne" && models.length === 1)
      await journal.insertOne(only.document as JournalDocument);
    else await client.bulkWrite<Schemas>(models, { ordered: true });
  }

  /** One by one: each may have been done. */
  async function follow(following: readonly Following[]): Promise<void> {
    for (const write of following) {
      // Each collection takes what is written to it.
      const collection = collections[write.collection] as unknown as Collection<Schemas[string]>;
      if ("insert" in write) await insertUnlessThere(collection, write.insert);
      else await collection.updateOne(write.filter, updateOf(write));
    }
  }

  return {
    follow,
    async append(turn) {
      const { entry, following, isKept = false } = turn;
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
        await send(models);
        return undefined;
      } catch (error) {
        if (!isTaken(error)) throw error;
      }
      const found = await journal.findOne({ _id: placeOf(entry) });
      const isOwn = found?.writeId === entry.writeId;
      if (isOwn) await follow(following);
      if (isKept) await outbox.deleteOne(filter);
      return isOwn ? undefined : found ? toEntry(found) : entry;
    },
  };
}

function updateOf(write: Exclude<Following, { insert: unknown }>): Document | Document[] {
  return "set" in write ? { $set: write.set } : [{ $set: write.expressions }];
}

/**
 * True when all that went wrong is that something was there: the place was taken, or what follows was done
 * before.
 */
function isTaken(error: unknown): boolean {
  return (error instanceof MongoServerError && isDuplicateKey(error)) || isBulkOfDuplicates(error);
}
