import type { Document } from "mongodb";
import type { GroupCommit, GroupSet } from "../commit/group-commit.ts";
import { repeatUntilAnswered } from "../database/repeat-until-answered.ts";
import { type MemoryDatabase } from "./memory-database.ts";
import type { GroupedWrite, Reach } from "./reach.ts";

/** What the group commit in memory needs. */
export interface MemoryGroupParts {
  database: MemoryDatabase;
  reach: Reach;
  /** Distinguishes this process's writeIds from all others. */
  owner: string;
  /** Monotonic milliseconds. */
  monotonic: () => number;
  sleep: (ms: number) => Promise<void>;
  /** How long a write is sent again while no answer comes, and the waits in between, in milliseconds. */
  retryForMs: number;
  retryEveryMs: number;
  /** What `$$NOW` is; default the server's clock. */
  serverNow: (() => number) | undefined;
  /** Changes writes on their way, for faults planted on purpose. */
  rewrite: ((write: GroupedWrite) => GroupedWrite) | undefined;
}

/**
 * The group commit's promises, over a database in memory: writes to one document go out in order, one at a
 * time; a write whose answer was lost is sent again, and its `writeId` tells whether it was done the first
 * time. Bulks are not modelled: each write travels alone, which allows every order that bulks allow, and
 * more. Documents are read after their write, as in bulks.
 */
export function createMemoryGroup(parts: MemoryGroupParts): GroupCommit {
  const { database, reach, owner, monotonic, sleep, retryForMs, retryEveryMs, rewrite } = parts;
  /** The last write under way of each document. */
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
    return again(async (isRepeat) => {
      const isMatched = await reach({ name, write: given, apply: () => apply(write, writeId, isRepeat) });
      if (isMatched || !isRepeat) return isMatched;
      return reach({ name: `${write.collection}.find`, apply: () => isDone(write, writeId) });
    });
  }

  const again = <T>(attempt: (isRepeat: boolean) => Promise<T>): Promise<T> =>
    repeatUntilAnswered(attempt, { operation: "group commit", monotonic, sleep, retryForMs, retryEveryMs });

  function apply(write: GroupedWrite, writeId: string, isRepeat: boolean): boolean {
    const { collection, id, condition } = write;
    const isPipeline = "expressions" in write;
    const options = { nowMs: parts.serverNow?.() };
    const set = { ...(isPipeline ? write.expressions : stamped(write, options.nowMs)), writeId };
    const filter = { _id: id, ...condition, ...(isRepeat && { writeId: { $ne: writeId } }) };
    const fitted = database.update(collection, filter, { set, isPipeline }, options);
    return fitted.length > 0;
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
      const [document] = await again(async () =>
        reach({ name: `${collection}.find`, apply: () => database.find(collection, { _id: id }) }),
      );
      // What the store writes into a collection is what it reads from it.
      return (document ?? null) as never;
    },
    async idle() {
      while (tails.size > 0) await Promise.all(tails.values());
    },
    counts: () => ({ bulks: sequence, writes: sequence }),
  };
}
