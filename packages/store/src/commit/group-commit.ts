/**
 * Group commit of conditional writes (DESIGN §6): the writes of everything that a process works on go out in
 * bulks over all collections. While much is under way the next bulk collects; while little is, no write waits
 * for the bulk of others.
 *
 * 1. A write is answered only when its bulk was acknowledged (majority, journalled) and it is known whether
 *    it matched.
 * 2. Writes to one document go out one after the other in the order in which they were given. Plain sets
 *    under the same condition that wait together are merged: the later fields win, both are answered
 *    together.
 * 3. Each write is named by a `writeId` that it leaves in its document, so a bulk whose answer was lost is
 *    sent again and what was refused can be told from what was done the first time. The driver's own retries
 *    are not needed: they cost MongoDB a record of every write.
 * 4. A write that cannot be stored at all fails alone: it takes none of its bulk with it.
 * 5. Of two writes in order the second is never seen without the first, and is not done when the first one
 *    failed.
 * 6. A write that waits for a lock, such as that of an operator at work on a document, holds up no other for
 *    long.
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
  /** Writes in one bulk, at most. Default 1,000. */
  maxBatch?: number | undefined;
  /** How long a bulk is sent again while MongoDB does not answer, in milliseconds. Default 30,000. */
  retryForMs?: number | undefined;
  /** Waits between tries, in milliseconds. Default 250. */
  retryEveryMs?: number | undefined;
  /**
   * How long a bulk may wait for locks before its writes go out one by one, in milliseconds. Default 2,500.
   */
  stuckAfterMs?: number | undefined;
  /** Told of each bulk that was acknowledged, with the writes in it. Default: none. */
  onBulk?: ((writes: number) => void) | undefined;
}

interface DocumentOf {
  requests: RequestDocument;
  plans: PlanDocument;
}

/** Writers share bulks through this. */
export interface GroupCommit {
  /**
   * True once it is durable, false when the condition did not hold.
   * @throws {StoreUnavailableError | WriteNotPossibleError}
   */
  set(write: GroupSet): Promise<boolean>;
  /**
   * Two writes to different documents, of which the second is never seen without the first. Each says whether
   * its own condition held.
   * @throws {StoreUnavailableError | WriteNotPossibleError}
   */
  setInOrder(first: GroupSet, second: GroupSet): Promise<[boolean, boolean]>;
  /**
   * The same with expressions of an update pipeline.
   * @throws {StoreUnavailableError | WriteNotPossibleError}
   */
  update(write: GroupUpdate): Promise<boolean>;
  /**
   * The document as it is after a write, which may be more than what this write did; null when the condition
   * did not hold.
   * @throws {StoreUnavailableError | WriteNotPossibleError}
   */
  updateAndRead<Name extends GroupedCollection>(
    write: (GroupSet | GroupUpdate) & { collection: Name },
  ): Promise<DocumentOf[Name] | null>;
  /** Resolves when nothing waits or is under way. */
  idle(): Promise<void>;
  /** Bulks acknowledged and writes in them so far, for metrics and benchmarks. */
  counts(): { bulks: number; writes: number };
}

/** With no more writes than this under way, others do not wait for their end. */
const CALM_WRITES = 8;

export type { GroupedCollection, GroupSet, GroupUpdate };

/**
 * A group commit through one client, made with `retryWrites: false` and the write concern of every write
 * here.
 */
export function createGroupCommit(client: MongoClient, options: GroupCommitOptions): GroupCommit {
  const { database, owner, maxBatch = 1_000, retryForMs = 30_000, retryEveryMs = 250 } = options;
  const { stuckAfterMs = 2_500, onBulk } = options;
  const send = createSendWrites(client, { database, retryForMs, retryEveryMs, stuckAfterMs });
  const queue = createWriteQueue({ owner, maxBatch });
  /** Resolved when nothing waits or is under way. */
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

  /** A turn later, so that everything of the same turn shares the first bulk. */
  function sendSoon(): void {
    if (isAboutToSend) return;
    isAboutToSend = true;
    setImmediate(() => {
      isAboutToSend = false;
      while (queue.underWay() <= CALM_WRITES) {
        const batch = queue.takeBatch();
        if (batch.length === 0) break;
        for (const part of apart(batch)) void commit(part);
      }
      if (!queue.isIdle()) return;
      for (const resolve of waitingForIdle) resolve();
      waitingForIdle = [];
    });
  }

  /** @param isRepeat - the batch may have been done already, in part or as a whole */
  async function commit(given: readonly PendingWrite[], isRepeat = false): Promise<void> {
    const batch = given.filter((write) => !failsWithFirst(write));
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
        await commitApart(batch);
      } else if (batch.length > 1 && !isTransient(error)) {
        for (const write of batch) await commit([write], true);
      } else for (const write of batch) reject(write, failureOf(batch, error));
    }
  }

  /** Sends each write alone: none waits for the lock of another, but for the one that it follows. */
  async function commitApart(batch: readonly PendingWrite[]): Promise<void> {
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

  /** True for a write whose first one has failed: it fails as well. */
  function failsWithFirst(write: PendingWrite): boolean {
    const failure = write.follows?.outcome;
    if (!(failure instanceof Error)) return false;
    reject(write, failure);
    return true;
  }

  function resolve(write: PendingWrite, result: WriteResult): void {
    write.outcome = "acknowledged";
    for (const waiter of write.waiters) waiter.resolve(result);
    leave(write);
  }

  function reject(write: PendingWrite, failure: Error): void {
    write.outcome = failure;
    for (const waiter of write.waiters) waiter.reject(failure);
    leave(write);
  }

  function leave(write: PendingWrite): void {
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

/** Of few writes, those whose document is asked for go alone: they have it without a read of its own. */
function apart(batch: readonly PendingWrite[]): (readonly PendingWrite[])[] {
  if (batch.length > CALM_WRITES) return [batch];
  const reading = batch.filter(({ wantsDocument }) => wantsDocument);
  const others = batch.filter(({ wantsDocument }) => !wantsDocument);
  return [...reading.map((write) => [write]), ...(others.length > 0 ? [others] : [])];
}
