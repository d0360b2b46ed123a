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
import type { MongoClient } from "mongodb";
import { isTimeLimit, isTransient } from "../database/transient-errors.ts";
import { StoreUnavailableError, WriteNotPossibleError } from "../records/errors.ts";
import type { PlanDocument } from "../records/plan-document.ts";
import type { RequestDocument } from "../records/request-document.ts";
import type { GroupedCollection, GroupSet, GroupUpdate, PendingWrite, WriteResult } from "./pending-write.ts";
import { createSendWrites } from "./send-writes.ts";
import { createWriteQueue, type QueueOptions } from "./write-queue.ts";

/** Options of {@link createGroupCommit}. */
export interface GroupCommitOptions {
  database: string;
  /** Distinguishes this process's writeIds from all others. */
  owner: string;
  /** Maximum number of writes in one bulk. Default 1,000. */
  maxBatch?: number | undefined;
  /** How long a bulk is sent again while MongoDB does not answer, in milliseconds. Default 30,000. */
  retryForMs?: number | undefined;
  /** Waits between tries, in milliseconds. Default 250. */
  retryEveryMs?: number | undefined;
  /**
   * How long a bulk may wait for locks before its writes are sent one by one, in milliseconds. Default 2,500.
   */
  stuckAfterMs?: number | undefined;
  /** Called after each acknowledged bulk, with the number of writes in it. Default: none. */
  onBulk?: ((writes: number) => void) | undefined;
}

interface DocumentOf {
  requests: RequestDocument;
  plans: PlanDocument;
}

/** Sends the writes of all callers in shared bulks. */
export interface GroupCommit {
  /**
   * True once the write is durable, false when its condition did not hold.
   * @throws {StoreUnavailableError | WriteNotPossibleError}
   */
  set(write: GroupSet): Promise<boolean>;
  /**
   * Two writes to different documents. The second is never visible without the first. Returns for each
   * whether its own condition held.
   * @throws {StoreUnavailableError | WriteNotPossibleError}
   */
  setInOrder(first: GroupSet | GroupUpdate, second: GroupSet): Promise<[boolean, boolean]>;
  /**
   * The same with expressions of an update pipeline.
   * @throws {StoreUnavailableError | WriteNotPossibleError}
   */
  update(write: GroupUpdate): Promise<boolean>;
  /**
   * The document after the write, perhaps with later writes too; null when the condition did not hold.
   * @throws {StoreUnavailableError | WriteNotPossibleError}
   */
  updateAndRead<Name extends GroupedCollection>(
    write: (GroupSet | GroupUpdate) & { collection: Name },
  ): Promise<DocumentOf[Name] | null>;
  /** Resolves when nothing is waiting or in flight. */
  idle(): Promise<void>;
  /** Acknowledged bulks, and writes in them, so far: for metrics and benchmarks. */
  counts(): { bulks: number; writes: number };
}

/** With at most this number of writes in flight, new writes are sent at once. */
const CALM_WRITES = 8;

export type { GroupedCollection, GroupSet, GroupUpdate };

/** A group commit through one client, which has `retryWrites: false` and the write concern of all writes. */
export function createGroupCommit(client: MongoClient, options: GroupCommitOptions): GroupCommit {
  const { database, owner, maxBatch = 1_000, retryForMs = 30_000, retryEveryMs = 250 } = options;
  const { stuckAfterMs = 2_500, onBulk } = options;
  const send = createSendWrites(client, { database, retryForMs, retryEveryMs, stuckAfterMs });
  const queue = createWriteQueue({ owner, maxBatch });
  /** Resolved when nothing is waiting or in flight. */
  let waitingForIdle: (() => void)[] = [];
  let isAboutToSend = false;
  let bulks = 0;
  let writes = 0;

  function enqueue(
    write: GroupSet | GroupUpdate,
    options?: QueueOptions,
  ): { result: Promise<WriteResult>; pending: PendingWrite } {
    const added = queue.add(write, options);
    sendSoon();
    return added;
  }

  /** Sends one turn of the event loop later, so that all writes of the same turn share the first bulk. */
  function sendSoon(): void {
    if (isAboutToSend) return;
    isAboutToSend = true;
    setImmediate(() => {
      isAboutToSend = false;
      while (queue.inFlight() <= CALM_WRITES) {
        const batch = queue.takeBatch();
        if (batch.length === 0) break;
        for (const part of splitSmallBatch(batch)) void commit(part);
      }
      if (!queue.isIdle()) return;
      for (const resolve of waitingForIdle) resolve();
      waitingForIdle = [];
    });
  }

  /** @param isRepeat - some or all writes of the batch may have been done already */
  async function commit(given: readonly PendingWrite[], isRepeat = false): Promise<void> {
    const batch = given.filter((write) => !failsWithPredecessor(write));
    if (batch.length === 0) return;
    try {
      const done = await send(batch, isRepeat);
      bulks += 1;
      writes += batch.length;
      onBulk?.(batch.length);
      for (const write of batch) {
        resolve(write, { isDone: done.has(write), document: done.get(write) ?? null });
      }
    } catch (error) {
      if (batch.length > 1 && isTimeLimit(error)) {
        await commitOneByOne(batch);
      } else if (batch.length > 1 && !isTransient(error)) {
        for (const write of batch) await commit([write], true);
      } else for (const write of batch) reject(write, failureOf(batch, error));
    }
  }

  /**
   * Sends each write alone, so that none waits for the lock of another. A write still waits for the one that
   * it follows.
   */
  async function commitOneByOne(batch: readonly PendingWrite[]): Promise<void> {
    const alone = new Map<PendingWrite, Promise<void>>();
    for (const write of batch) {
      const first = write.follows && alone.get(write.follows);
      alone.set(write, first ? first.then(() => commit([write], true)) : commit([write], true));
    }
    await Promise.all(alone.values());
  }

  function failureOf(batch: readonly PendingWrite[], error: unknown): Error {
    return isTransient(error)
      ? new StoreUnavailableError({ operation: "group commit" }, error)
      : new WriteNotPossibleError({ ids: batch.map(({ id }) => id) }, error);
  }

  /** True for a write whose predecessor has failed: it fails as well. */
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
    set: (write) => isDone(enqueue(write).result),
    setInOrder(first, second) {
      const { result, pending } = enqueue(first);
      return Promise.all([isDone(result), isDone(enqueue(second, { follows: pending }).result)]);
    },
    update: (write) => isDone(enqueue(write).result),
    async updateAndRead<Name extends GroupedCollection>(
      write: (GroupSet | GroupUpdate) & { collection: Name },
    ) {
      const { document } = await enqueue(write, { wantsDocument: true }).result;
      return document as DocumentOf[Name] | null;
    },
    idle: () =>
      new Promise((resolve) => {
        waitingForIdle.push(resolve);
        sendSoon();
      }),
    counts: () => ({ bulks, writes }),
  };
}

/**
 * In a small batch each write that wants its document is sent alone: it gets the document without another
 * read.
 */
function splitSmallBatch(batch: readonly PendingWrite[]): (readonly PendingWrite[])[] {
  if (batch.length > CALM_WRITES) return [batch];
  const reading = batch.filter(({ wantsDocument }) => wantsDocument);
  const others = batch.filter(({ wantsDocument }) => !wantsDocument);
  return [...reading.map((write) => [write]), ...(others.length > 0 ? [others] : [])];
}
