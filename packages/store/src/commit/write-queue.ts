import {
  bodyOf,
  type GroupSet,
  type GroupUpdate,
  mergeInto,
  type PendingWrite,
  type Waiter,
  type WriteResult,
} from "./pending-write.ts";

/** How a write is queued. */
export interface QueueOptions {
  /** The caller wants the document as it is after the write. */
  wantsDocument?: boolean;
  /** The write without which this one is never seen. */
  follows?: PendingWrite;
}

/** Writes that wait for a bulk, in order by document, and the documents with a write under way. */
export interface WriteQueue {
  /** Queues a write; merged with one that waits, where both are plain sets under the same condition. */
  add(
    write: GroupSet | GroupUpdate,
    options?: QueueOptions,
  ): { result: Promise<WriteResult>; pending: PendingWrite };
  /** Takes the writes that may go now, the first of each document; they are under way from here on. */
  takeBatch(): PendingWrite[];
  /** The write has ended: the next one of its document may go. */
  release(write: PendingWrite): void;
  /** Number of writes under way. */
  underWay(): number;
  /** True when nothing waits or is under way. */
  isIdle(): boolean;
}

/**
 * An empty queue.
 * @param owner - names this process in each `writeId`
 * @param maxBatch - writes in one batch, at most
 */
export function createWriteQueue({ owner, maxBatch }: { owner: string; maxBatch: number }): WriteQueue {
  /** By document; the first of each queue goes with the next bulk. */
  const waiting = new Map<string, PendingWrite[]>();
  /** Documents with a write under way. */
  const busy = new Set<string>();
  let sequence = 0;

  /** True for a write that would be seen without the one that it follows. */
  function isTooEarly({ follows }: PendingWrite, batch: ReadonlySet<PendingWrite>): boolean {
    return follows !== undefined && !follows.outcome && !batch.has(follows);
  }

  return {
    add(write, { wantsDocument = false, follows } = {}) {
      const { result, waiter } = createWaiter();
      const { collection, id, condition } = write;
      const key = `${collection}/${id}`;
      const queue = waiting.get(key) ?? [];
      const last = queue.at(-1);
      const body = bodyOf(write);
      if (last && !wantsDocument && !follows && mergeInto(last, condition, body)) {
        last.waiters.push(waiter);
        return { result, pending: last };
      }
      sequence += 1;
      const writeId = `${owner}:${sequence}`;
      const target = { key, collection, id, condition };
      const pending: PendingWrite = { ...target, body, writeId, wantsDocument, waiters: [waiter], follows };
      queue.push(pending);
      waiting.set(key, queue);
      return { result, pending };
    },

    takeBatch() {
      const batch = new Set<PendingWrite>();
      for (const [key, queue] of waiting) {
        const [first] = queue;
        if (!first || busy.has(key) || isTooEarly(first, batch)) continue;
        queue.shift();
        if (queue.length === 0) waiting.delete(key);
        batch.add(first);
        if (batch.size === maxBatch) break;
      }
      for (const { key } of batch) busy.add(key);
      return [...batch];
    },

    release: ({ key }) => void busy.delete(key),
    underWay: () => busy.size,
    isIdle: () => waiting.size === 0 && busy.size === 0,
  };
}

function createWaiter(): { result: Promise<WriteResult>; waiter: Waiter } {
  const waiter: Waiter = { resolve: () => undefined, reject: () => undefined };
  const result = new Promise<WriteResult>((resolve, reject) => Object.assign(waiter, { resolve, reject }));
  return { result, waiter };
}
