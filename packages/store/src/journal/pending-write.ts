import type { ClientBulkWriteModel, Collection, Document } from "mongodb";
import type { Collections } from "../database/collections.ts";
import { insertUnlessThere, isBulkOfDuplicates } from "../database/transient-errors.ts";

/** The collections whose documents carry a `writeId`. */
export type GroupedCollection = "requests" | "plans";

interface Target {
  collection: GroupedCollection;
  id: string;
  /** What must hold for the document, in addition to its id. */
  condition: Document;
}

/** Sets fields to values: cheaper for MongoDB than an update with expressions. */
export interface GroupSet extends Target {
  set: Document;
}

/** Sets fields to expressions that MongoDB computes. */
export interface GroupUpdate extends Target {
  expressions: Document;
}

/** A conditional write to a document that carries a `writeId`. */
export type GroupedWrite = GroupSet | GroupUpdate;

type Inserted = Document & { _id: string };

/** A write to a document that follows an entry of the journal: a head, or a record that the entry names. */
export type HeadWrite =
  | GroupedWrite
  | (Omit<GroupSet, "collection"> & { collection: "modelCalls" })
  | { collection: GroupedCollection | "modelCalls"; insert: Inserted };

/** A write of a command over several collections. */
export type SentWrite = HeadWrite | { collection: "journal"; insert: Inserted };

/** The collection of a write. */
export function collectionOf(
  collections: Collections,
  { collection }: Pick<SentWrite, "collection">,
): Collection<Inserted> {
  // The types of the collections differ; each write is made for its collection.
  return collections[collection] as unknown as Collection<Inserted>;
}

type Update = Exclude<HeadWrite, { insert: unknown }>;

/** A change in the form of the driver. @param marks - fields that are set too. Default: none */
export function changeOf(write: Update, marks: Document = {}): Document | Document[] {
  return "expressions" in write
    ? [{ $set: { ...write.expressions, ...marks } }]
    : { $set: { ...write.set, ...marks } };
}

/** Does writes one after the other, each of which may have been done before. */
export async function followOneByOne(collections: Collections, writes: readonly HeadWrite[]): Promise<void> {
  for (const write of writes) {
    const collection = collectionOf(collections, write);
    if ("insert" in write) await insertUnlessThere(collection, write.insert);
    else await collection.updateOne({ _id: write.id, ...write.condition }, changeOf(write));
  }
}

/** The driver types documents by namespace. */
type Schemas = Record<string, Inserted>;

/**
 * Sends writes as one command, so that a process that dies has sent all of them or none. False when it failed only
 * because documents with the same keys were there.
 */
export async function sendTogether(
  collections: Collections,
  writes: readonly SentWrite[],
  { ordered }: { ordered: boolean },
): Promise<boolean> {
  const models = writes.map((write): ClientBulkWriteModel<Schemas> => {
    const { namespace } = collectionOf(collections, write);
    if ("insert" in write) return { name: "insertOne", namespace, document: write.insert };
    const filter = { _id: write.id, ...write.condition };
    return { name: "updateOne", namespace, filter, update: changeOf(write) };
  });
  try {
    await collections.client.bulkWrite<Schemas>(models, { ordered });
    return true;
  } catch (error) {
    if (!isBulkOfDuplicates(error)) throw error;
    return false;
  }
}

/** Result of a write: whether its condition held, and the document after it, if that was asked for. */
export interface WriteResult {
  isDone: boolean;
  document: Document | null;
}

/** The caller that waits for the result of a write. */
export interface Waiter {
  resolve: (result: WriteResult) => void;
  reject: (error: Error) => void;
}

/** A write that is waiting or in flight. */
export interface PendingWrite {
  /** Identifies the document across all collections. */
  readonly key: string;
  write: GroupedWrite;
  readonly writeId: string;
  readonly wantsDocument: boolean;
  readonly waiters: Waiter[];
  /** Visible only with that write, which is sent in the same bulk or acknowledged before. Default: none. */
  readonly follows?: PendingWrite | undefined;
  /** Its result; absent while it waits or is in flight. */
  outcome?: "acknowledged" | Error;
}

/** Merges a write into a waiting one to the same document, whose fields it replaces; false: impossible. */
export function mergeInto(earlier: PendingWrite, later: GroupedWrite): boolean {
  const first = earlier.write;
  if (!("set" in first) || !("set" in later) || earlier.wantsDocument || earlier.follows) return false;
  if (JSON.stringify(later.condition) !== JSON.stringify(first.condition)) return false;
  earlier.write = { ...first, set: { ...first.set, ...later.set } };
  return true;
}

/**
 * A write in the form of the driver.
 * @param isRepeat - the write may have been done already: then its document has its `writeId`
 */
export function toUpdate({ write, writeId }: PendingWrite, isRepeat: boolean) {
  const filter = { _id: write.id, ...write.condition, ...(isRepeat && { writeId: { $ne: writeId } }) };
  return { filter, update: changeOf(write, { writeId }) };
}
