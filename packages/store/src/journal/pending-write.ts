import type { Collection, Document } from "mongodb";
import type { Collections } from "../database/collections.ts";
import { insertUnlessThere } from "../database/transient-errors.ts";

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

/** A write to a document that follows an entry of the journal: a head, or a record that the entry names. */
export type HeadWrite =
  | GroupSet
  | GroupUpdate
  | (Omit<GroupSet, "collection"> & { collection: "modelCalls" })
  | { collection: GroupedCollection | "modelCalls"; insert: Document & { _id: string } };

/** The collection of a write. */
export function collectionOf(
  collections: Collections,
  { collection }: HeadWrite,
): Collection<Document & { _id: string }> {
  // The types of the collections differ; each write is made for its collection.
  return collections[collection] as unknown as Collection<Document & { _id: string }>;
}

/** A write that is not sent by the group commit, in the form of the driver. */
export function changeOf(write: Exclude<HeadWrite, { insert: unknown }>): Document | Document[] {
  return "expressions" in write ? [{ $set: write.expressions }] : { $set: write.set };
}

/** Does writes one after the other, each of which may have been done before. */
export async function followOneByOne(collections: Collections, writes: readonly HeadWrite[]): Promise<void> {
  for (const write of writes) {
    const collection = collectionOf(collections, write);
    if ("insert" in write) await insertUnlessThere(collection, write.insert);
    else await collection.updateOne({ _id: write.id, ...write.condition }, changeOf(write));
  }
}

/** What a write does to its document. */
type Body = { set: Document } | { expressions: Document };

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
export interface PendingWrite extends Target {
  /** Identifies the document across all collections. */
  readonly key: string;
  body: Body;
  readonly writeId: string;
  readonly wantsDocument: boolean;
  readonly waiters: Waiter[];
  /** Visible only with that write, which is sent in the same bulk or acknowledged before. Default: none. */
  readonly follows?: PendingWrite | undefined;
  /** Its result; absent while it waits or is in flight. */
  outcome?: "acknowledged" | Error;
}

/** Merges a write into a waiting one to the same document, whose fields it replaces; false: impossible. */
export function mergeInto(earlier: PendingWrite, condition: Document, later: Body): boolean {
  const first = earlier.body;
  if (!("set" in first) || !("set" in later) || earlier.wantsDocument || earlier.follows) return false;
  if (JSON.stringify(condition) !== JSON.stringify(earlier.condition)) return false;
  earlier.body = { set: { ...first.set, ...later.set } };
  return true;
}

/**
 * A write in the form of the driver.
 * @param isRepeat - the write may have been done already: then its document has its `writeId`
 */
export function toUpdate(
  { id, condition, body, writeId }: PendingWrite,
  isRepeat: boolean,
): {
  filter: { _id: string };
  update: Document | Document[];
} {
  const filter = { _id: id, ...condition, ...(isRepeat && { writeId: { $ne: writeId } }) };
  if ("expressions" in body) return { filter, update: [{ $set: { ...body.expressions, writeId } }] };
  return { filter, update: { $set: { ...body.set, writeId } } };
}
