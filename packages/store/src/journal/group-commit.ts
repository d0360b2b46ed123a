/**
 * Group commit of conditional writes: all writes of a process are sent in bulks over all
 * collections. While many writes are in flight the next bulk collects; while few are, no write waits for
 * another bulk.
 *
 * 1. A write resolves only when its bulk was acknowledged (majority, journalled) and it is known whether it
 *    matched.
 * 2. Writes to one document are sent one after the other in the order in which they were given. Waiting plain
 *    sets under the same condition are merged: the later fields win, and both resolve together.
 * 3. Each write leaves its `writeId` in its document. So a bulk whose answer was lost can be sent again: a
 *    write that was refused can be distinguished from one that was done the first time. The driver's own
 *    retries are not needed: they cost MongoDB a record of every write.
 * 4. A write that cannot be stored at all fails alone: the others of its bulk are done.
 * 5. Of two ordered writes the second is never visible without the first, and is not done when the first one
 *    failed.
 * 6. A write that waits for a lock, for example while an operator edits the document, delays no other write
 *    for long.
 */
import { groupBy } from "@planwright/plan";
import type { ClientBulkWriteModel, Collection, Document, MongoClient } from "mongodb";
import type { Collections } from "../database/collections.ts";
import { isTimeLimit, repeatUntilAnswered } from "../database/transient-errors.ts";
import { StoreUnavailableError, WriteNotPossibleError } from "../records/errors.ts";
import type { PlanDocument } from "../records/plan-document.ts";
import type { RequestDocument } from "../records/request-document.ts";
import {
  followOneByOne,
  type GroupedCollection,
  type GroupedWrite,
  type HeadWrite,
  mergeInto,
  type PendingWrite,
  toUpdate,
  type Waiter,
  type WriteResult,
} from "./pending-write.ts";

interface GroupCommitOptions {
  database: string;
  /** Distinguishes this process's writeIds from all others. */
  owner: string;
  /** How long a bulk may wait for locks before its writes are sent one by one, in milliseconds. Default 2,500. */
  stuckAfterMs?: number | undefined;
  /** Called after each acknowledged bulk, with the number of writes in it. Default: none. */
  onBulk?: ((writes: number) => void) | undefined;
}

/** The document of each collection whose documents carry a `writeId`. */
export interface GroupedDocuments {
  requests: RequestDocument;
  plans: PlanDocument;
}

/** Sends the writes of all callers in shared bulks. */
export interface GroupCommit {
  /**
   * True once the write is durable, false when its condition did not hold.
   * @throws {StoreUnavailableError | WriteNotPossibleError}
   */
  write(write: GroupedWrite): Promise<boolean>;
  /**
   * Two writes to different documents. The second is never visible without the first. Returns for each
   * whether its own condition held.
   */
  writeInOrder(first: GroupedWrite, second: GroupedWrite): Promise<[boolean, boolean]>;
  /** The document after the write, perhaps with later ones too; null when the condition did not hold. */
  writeAndRead<Name extends GroupedCollection>(
    write: GroupedWrite & { collection: Name },
  ): Promise<GroupedDocuments[Name] | null>;
  idle(): Promise<void>;
}

/** With at most this number of writes in flight, new writes are sent at once. */
const CALM_WRITES = 8;

/** A group commit through one client, which has `retryWrites: false` and the write concern of all writes. */
export function createGroupCommit(client: MongoClient, options: GroupCommitOptions): GroupCommit {
  const { owner, onBulk } = options;
  const send = createSendWrites(client, options);
  const queue = createWriteQueue(owner);
  const { sendSoon, idle } = createSender({ sendAll, isIdle: queue.isIdle });

  function enqueue(
    write: GroupedWrite,
    options?: QueueOptions,
  ): { result: Promise<WriteResult>; pending: PendingWrite } {
    const added = queue.add(write, options);
    sendSoon();
    return added;
  }

  function sendAll(): void {
    while (queue.inFlight() <= CALM_WRITES) {
      const batch = queue.takeBatch();
      if (batch.length === 0) break;
      for (const part of splitSmallBatch(batch)) void commit(part);
    }
  }

  /** @param isRepeat - some or all writes of the batch may have been done already */
  async function commit(given: readonly PendingWrite[], isRepeat = false): Promise<void> {
    const batch = given.filter((write) => !failsWithPredecessor(write));
    if (batch.length === 0) return;
    try {
      const done = await send(batch, isRepeat);
      if (done === "stuck") return await commitOneByOne(batch);
      onBulk?.(batch.length);
      for (const write of batch) {
        resolve(write, { isDone: done.has(write), document: done.get(write) ?? null });
      }
    } catch (error) {
      const [only] = batch;
      if (error instanceof StoreUnavailableError) for (const write of batch) reject(write, error);
      else if (batch.length > 1) for (const write of batch) await commit([write], true);
      else if (only) reject(only, new WriteNotPossibleError({ ids: [only.write.id] }, error));
    }
  }

  /** Sends each write alone, so that none waits for another's lock, but for the one that it follows. */
  async function commitOneByOne(batch: readonly PendingWrite[]): Promise<void> {
    const alone = new Map<PendingWrite, Promise<void>>();
    for (const write of batch) {
      const first = write.follows && alone.get(write.follows);
      alone.set(write, first ? first.then(() => commit([write], true)) : commit([write], true));
    }
    await Promise.all(alone.values());
  }

  function failsWithPredecessor(write: PendingWrite): boolean {
    const failure = write.follows?.outcome;
    if (!(failure instanceof Error)) return false;
    reject(write, failure);
    return true;
  }

  function resolve(write: PendingWrite, result: WriteResult): void {
    write.outcome = "acknowledged";
    for (const waiter of write.waiters) waiter.resolve(result);
    releaseWrite(write);
  }

  function reject(write: PendingWrite, failure: Error): void {
    write.outcome = failure;
    for (const waiter of write.waiters) waiter.reject(failure);
    releaseWrite(write);
  }

  function releaseWrite(write: PendingWrite): void {
    queue.release(write);
    sendSoon();
  }

  async function isDone(result: Promise<WriteResult>): Promise<boolean> {
    return (await result).isDone;
  }

  return {
    write: (write) => isDone(enqueue(write).result),
    writeInOrder(first, second) {
      const { result, pending } = enqueue(first);
      return Promise.all([isDone(result), isDone(enqueue(second, { follows: pending }).result)]);
    },
    async writeAndRead(write) {
      const { document } = await enqueue(write, { wantsDocument: true }).result;
      // A collection has only documents of its type.
      return document as never;
    },
    idle,
  };
}

/** Does writes that follow from an entry, in their order, in the bulks of a process. */
export async function followInBulks(
  group: GroupCommit,
  collections: Collections,
  writes: readonly HeadWrite[],
): Promise<void> {
  const [first, second, ...others] = writes;
  if (first && second && others.length === 0 && isGrouped(first) && isGrouped(second))
    return void (await group.writeInOrder(first, second));
  for (const write of writes)
    if (isGrouped(write)) await group.write(write);
    else await followOneByOne(collections, [write]);
}

function isGrouped(write: HeadWrite): write is GroupedWrite {
  return "id" in write && write.collection !== "modelCalls";
}

/** In a small batch each write that wants its document is sent alone: it needs no second read. */
function splitSmallBatch(batch: readonly PendingWrite[]): (readonly PendingWrite[])[] {
  if (batch.length > CALM_WRITES) return [batch];
  const reading = batch.filter(({ wantsDocument }) => wantsDocument);
  const others = batch.filter(({ wantsDocument }) => !wantsDocument);
  return [...reading.map((write) => [write]), ...(others.length > 0 ? [others] : [])];
}

interface QueueOptions {
  wantsDocument?: boolean;
  /** The new write is never visible without this one. */
  follows?: PendingWrite;
}

/** Writes that wait for a bulk, in order for each document, and the documents with one in flight. */
function createWriteQueue(owner: string) {
  /** By document; the first write of each queue goes into the next bulk. */
  const waiting = new Map<string, PendingWrite[]>();
  const busy = new Set<string>();
  let sequence = 0;

  /** True for a write that could be visible without the one that it follows. */
  function isTooEarly({ follows }: PendingWrite, batch: ReadonlySet<PendingWrite>): boolean {
    return follows !== undefined && !follows.outcome && !batch.has(follows);
  }

  return {
    /** Queues a write. It is merged with a waiting one if both are plain sets under the same condition. */
    add(write: GroupedWrite, { wantsDocument = false, follows }: QueueOptions = {}) {
      const { result, waiter } = createWaiter();
      const key = `${write.collection}/${write.id}`;
      const queue = waiting.get(key) ?? [];
      const last = queue.at(-1);
      if (last && !wantsDocument && !follows && mergeInto(last, write)) {
        last.waiters.push(waiter);
        return { result, pending: last };
      }
      sequence += 1;
      const writeId = `${owner}:${sequence}`;
      const pending: PendingWrite = { key, write, writeId, wantsDocument, waiters: [waiter], follows };
      queue.push(pending);
      waiting.set(key, queue);
      return { result, pending };
    },

    /** Takes the writes that may be sent now, the first of each document. They are in flight from then on. */
    takeBatch(): PendingWrite[] {
      const batch = new Set<PendingWrite>();
      for (const [key, queue] of waiting) {
        const [first] = queue;
        if (!first || busy.has(key) || isTooEarly(first, batch)) continue;
        queue.shift();
        if (queue.length === 0) waiting.delete(key);
        batch.add(first);
        if (batch.size === MAX_BATCH) break;
      }
      for (const { key } of batch) busy.add(key);
      return [...batch];
    },

    release: ({ key }: PendingWrite) => void busy.delete(key),
    inFlight: () => busy.size,
    isIdle: () => waiting.size === 0 && busy.size === 0,
  };
}

function createWaiter(): { result: Promise<WriteResult>; waiter: Waiter } {
  const waiter: Waiter = { resolve: () => undefined, reject: () => undefined };
  const result = new Promise<WriteResult>((resolve, reject) => Object.assign(waiter, { resolve, reject }));
  return { result, waiter };
}

/** The writes that were done, each with its document if the caller wants it. */
type Done = Map<PendingWrite, Document | null>;

type StringKeyed = Document & { _id: string };
type Schemas = Record<string, StringKeyed>;

/**
 * Sends writes to different documents as one command, and repeats it while MongoDB does not answer.
 *
 * A write that is repeated may have been done before. A document that has its `writeId` is not written again,
 * and shows that the write is done. A bulk that waits too long for locks is `stuck`: it is not repeated.
 */
function createSendWrites(client: MongoClient, { database, stuckAfterMs = 2_500 }: GroupCommitOptions) {
  const db = client.db(database);

  function collectionOf(name: GroupedCollection): Collection<StringKeyed & { writeId: string | null }> {
    return db.collection(name);
  }

  /** A single write costs MongoDB and the driver a third less than a bulk of one. */
  async function sendOne(pending: PendingWrite, isRepeat: boolean): Promise<Done> {
    const { filter, update } = toUpdate(pending, isRepeat);
    const collection = collectionOf(pending.write.collection);
    const settings = { maxTimeMS: stuckAfterMs, returnDocument: "after" } as const;
    if (!pending.wantsDocument) {
      const { matchedCount } = await collection.updateOne(filter, update, settings);
      return new Map(matchedCount === 1 ? [[pending, null]] : []);
    }
    const document = await collection.findOneAndUpdate(filter, update, settings);
    return new Map(document ? [[pending, document]] : []);
  }

  async function sendBulk(batch: readonly PendingWrite[], isRepeat: boolean): Promise<Done> {
    const models = batch.map((pending): ClientBulkWriteModel<Schemas> => {
      const namespace = `${database}.${pending.write.collection}`;
      return { name: "updateOne", namespace, ...toUpdate(pending, isRepeat) };
    });
    // Behind a write that is refused, an ordered bulk does nothing (invariant 5); the rest is sent again one by one.
    const ordered = batch.some(({ follows }) => follows !== undefined);
    const settings = { ordered, verboseResults: true, maxTimeMS: stuckAfterMs } as const;
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
    pending: readonly PendingWrite[],
    projection: Document = {},
  ): Promise<Map<string, Document>> {
    const found = new Map<string, Document>();
    for (const [name, writes] of groupBy(pending, ({ write }) => write.collection)) {
      const ids = writes.map(({ write }) => write.id);
      const documents = collectionOf(name).find({ _id: { $in: ids } }, { projection });
      for await (const document of documents) found.set(`${name}/${document._id}`, document);
    }
    return found;
  }

  return (batch: readonly PendingWrite[], wasSent: boolean): Promise<Done | "stuck"> => {
    const attempt = async (isAgain: boolean): Promise<Done | "stuck"> => {
      const isRepeat = wasSent || isAgain;
      const [first] = batch;
      try {
        const done =
          first && batch.length === 1 ? await sendOne(first, isRepeat) : await sendBulk(batch, isRepeat);
        return isRepeat && done.size < batch.length ? await findDone(batch) : done;
      } catch (error) {
        if (batch.length > 1 && isTimeLimit(error)) return "stuck";
        throw error;
      }
    };
    return repeatUntilAnswered("group commit", attempt);
  };
}

interface SenderOptions {
  sendAll: () => void;
  isIdle: () => boolean;
  /** Calls a function one turn later. Default `setImmediate`. */
  soon?: ((happen: () => void) => void) | undefined;
}

/** Sends one turn of the event loop after the first call, so that all that comes in a turn is sent together. */
function createSender({ sendAll, isIdle, soon = (happen) => void setImmediate(happen) }: SenderOptions) {
  let waitingForIdle: (() => void)[] = [];
  let isAboutToSend = false;

  function sendSoon(): void {
    if (isAboutToSend) return;
    isAboutToSend = true;
    soon(() => {
      isAboutToSend = false;
      sendAll();
      if (!isIdle()) return;
      for (const resolve of waitingForIdle) resolve();
      waitingForIdle = [];
    });
  }

  function idle(): Promise<void> {
    return new Promise((resolve) => {
      waitingForIdle.push(resolve);
      sendSoon();
    });
  }

  return { sendSoon, idle };
}

interface BatchesOptions<Item, Result> {
  /** Sends items together. Returns what gives the result of each of them. */
  send: (items: readonly Item[]) => Promise<(item: Item) => Result | Promise<Result>>;
  /** Ids of what an item stores, for the error when that is not possible. */
  idsOf: (item: Item) => string[];
  soon?: SenderOptions["soon"];
}

const MAX_BATCH = 1_000;
const MAX_IN_FLIGHT = 2;

/**
 * Batches in the order in which their items were added. At most two are in flight. An item that cannot be stored
 * at all fails alone.
 */
export function createBatches<Item, Result>({ send, idsOf, soon }: BatchesOptions<Item, Result>) {
  interface Waiting {
    item: Item;
    resolve: (result: Result | Promise<Result>) => void;
    reject: (error: Error) => void;
  }
  let waiting: Waiting[] = [];
  let inFlight = 0;
  const isIdle = () => waiting.length === 0 && inFlight === 0;
  const { sendSoon, idle } = createSender({ sendAll, isIdle, soon });

  async function settle(batch: readonly Waiting[]): Promise<void> {
    try {
      const resultOf = await send(batch.map(({ item }) => item));
      for (const { item, resolve } of batch) resolve(resultOf(item));
    } catch (error) {
      if (error instanceof StoreUnavailableError) for (const { reject } of batch) reject(error);
      else if (batch.length > 1) for (const one of batch) await settle([one]);
      else
        for (const { item, reject } of batch) reject(new WriteNotPossibleError({ ids: idsOf(item) }, error));
    }
  }

  function sendAll(): void {
    while (inFlight < MAX_IN_FLIGHT && waiting.length > 0) {
      const batch = waiting.slice(0, MAX_BATCH);
      waiting = waiting.slice(MAX_BATCH);
      inFlight += 1;
      void settle(batch).finally(() => {
        inFlight -= 1;
        sendSoon();
      });
    }
  }

  return {
    /** Resolves when the item is stored. @throws {StoreUnavailableError | WriteNotPossibleError} */
    add: (item: Item) =>
      new Promise<Result>((resolve, reject) => {
        waiting.push({ item, resolve, reject });
        sendSoon();
      }),
    idle,
  };
}
