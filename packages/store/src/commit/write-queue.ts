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
  /** The new write is never visible without this one. */
  follows?: PendingWrite;
}

/** Writes that wait for a bulk, in order for each document, and the documents with a write in flight. */
export interface WriteQueue {
  /** Queues a write. It is merged with a waiting one if both are plain sets under the same condition. */
  add(
    write: GroupSet | GroupUpdate,
    options?: QueueOptions,
  ): { result: Promise<WriteResult>; pending: PendingWrite };
  /** Takes the writes that may be sent now, the first of each document. They are in flight from then on. */
  takeBatch(): PendingWrite[];
  /** The write has ended: the next one to its document may be sent. */
  release(write: PendingWrite): void;
  /** Number of writes in flight. */
  inFlight(): number;
  /** True when nothing is waiting or in flight. */
  isIdle(): boolean;
}

/**
 * An empty queue.
 * @param owner - identifies this process in each `writeId`
 * @param maxBatch - maximum number of writes in one batch
 */
export function createWriteQueue({ owner, maxBatch }: { owner: string; maxBatch: number }): WriteQueue {
  /** By document; the first write of each queue goes into the next bulk. */
  const waiting = new Map<string, PendingWrite[]>();
  /** Documents with a write in flight. */
  const busy = new Set<string>();
  let sequence = 0;

  /** True for a write that could be visible without the one that it follows. */
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
    inFlight: () => busy.size,
    isIdle: () => waiting.size === 0 && busy.size === 0,
  };
}

function createWaiter(): { result: Promise<WriteResult>; waiter: Waiter } {
  const waiter: Waiter = { resolve: () => undefined, reject: () => undefined };
  const result = new Promise<WriteResult>((resolve, reject) => Object.assign(waiter, { resolve, reject }));
  return { result, waiter };
}
