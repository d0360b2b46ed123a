import type { Document } from "mongodb";
import type { GroupCommit, GroupSet } from "../commit/group-commit.ts";
import { repeatUntilAnswered } from "../database/repeat-until-answered.ts";
import { type MemoryDatabase } from "./memory-database.ts";
import type { GroupedWrite, Reach } from "./reach.ts";

/** Options of {@link createMemoryGroup}. */
export interface MemoryGroupParts {
  database: MemoryDatabase;
  reach: Reach;
  /** Distinguishes this process's writeIds from all others. */
  owner: string;
  /** Monotonic milliseconds. */
  monotonic: () => number;
  sleep: (ms: number) => Promise<void>;
  /**
   * How long a write is sent again while no answer comes, and the wait between two tries, in milliseconds.
   */
  retryForMs: number;
  retryEveryMs: number;
  /** The value of `$$NOW`. Undefined: the server's clock. */
  serverNow: (() => number) | undefined;
  /** Changes writes before they are applied, to inject faults. */
  rewrite: ((write: GroupedWrite) => GroupedWrite) | undefined;
}

/**
 * Group commit over a database in memory, with the same guarantees: writes to one document are sent in order,
 * one at a time. A write whose answer was lost is sent again, and its `writeId` shows whether it was done the
 * first time. There are no bulks: each write is sent alone, which allows all orders that bulks allow, and
 * more. Documents are read after their write, as in bulks.
 */
export function createMemoryGroup(parts: MemoryGroupParts): GroupCommit {
  const { database, reach, owner, monotonic, sleep, retryForMs, retryEveryMs, rewrite } = parts;
  /** The last write in flight to each document. */
  const tails = new Map<string, Promise<unknown>>();
  let sequence = 0;

  function enqueue(write: GroupedWrite): Promise<boolean> {
    const key = `${write.collection}/${write.id}`;
    const tail = tails.get(key);
    sequence += 1;
    const writeId = `${owner}:${sequence}`;
    const done = tail ? tail.then(() => send(write, writeId)) : send(write, writeId);
    const settled = done.then(
      () => undefined,
      () => undefined,
    );
    tails.set(key, settled);
    void settled.then(() => tails.get(key) === settled && tails.delete(key));
    return done;
  }

  async function send(given: GroupedWrite, writeId: string): Promise<boolean> {
    const write = rewrite ? rewrite(given) : given;
    const name = `${write.collection}.write`;
    return untilAnswered(async (isRepeat) => {
      const isMatched = await reach({ name, write: given, apply: () => apply(write, writeId, isRepeat) });
      if (isMatched || !isRepeat) return isMatched;
      return reach({ name: `${write.collection}.find`, apply: () => isDone(write, writeId) });
    });
  }

  const untilAnswered = <T>(attempt: (isRepeat: boolean) => Promise<T>): Promise<T> =>
    repeatUntilAnswered(attempt, { operation: "group commit", monotonic, sleep, retryForMs, retryEveryMs });

  function apply(write: GroupedWrite, writeId: string, isRepeat: boolean): boolean {
    const { collection, id, condition } = write;
    const isPipeline = "expressions" in write;
    const options = { nowMs: parts.serverNow?.() };
    const set = { ...(isPipeline ? write.expressions : stamped(write, options.nowMs)), writeId };
    const filter = { _id: id, ...condition, ...(isRepeat && { writeId: { $ne: writeId } }) };
    const matched = database.update(collection, filter, { set, isPipeline }, options);
    return matched.length > 0;
  }

  function stamped({ set, stamps = [] }: GroupSet, nowMs = database.now()): Document {
    return { ...set, ...Object.fromEntries(stamps.map((field) => [field, new Date(nowMs)])) };
  }

  function isDone({ collection, id }: GroupedWrite, writeId: string): boolean {
    return database.find(collection, { _id: id, writeId }).length > 0;
  }

  return {
    set: enqueue,
    async setInOrder(first, second) {
      return [await enqueue(first), await enqueue(second)];
    },
    update: enqueue,
    async updateAndRead(write) {
      if (!(await enqueue(write))) return null;
      const { collection, id } = write;
      const [document] = await untilAnswered(async () =>
        reach({ name: `${collection}.find`, apply: () => database.find(collection, { _id: id }) }),
      );
      // A collection has only documents of its type.
      return (document ?? null) as never;
    },
    async idle() {
      while (tails.size > 0) await Promise.all(tails.values());
    },
    counts: () => ({ bulks: sequence, writes: sequence }),
  };
}
