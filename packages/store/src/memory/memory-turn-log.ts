import { type EntryLog, entryIdOf } from "../journal/entry-log.ts";
import { RequestRemovedError } from "../journal/errors.ts";
import { type FollowingWrite, type Turn, type TurnLog, toOutbox } from "../journal/turn-log.ts";
import type { MemoryDatabase } from "./memory-database.ts";
import type { Reach } from "./reach.ts";

/**
 * Turns in a database in memory, over the connection of one process. The writes are sent one by one, so that
 * a process may die in between. With MongoDB this needs the death of the server too.
 */
export function createMemoryTurnLog(
  database: MemoryDatabase,
  reach: Reach,
  log: Pick<EntryLog, "insert">,
): TurnLog {
  /** Returns whether the write's document is there. */
  function apply(write: FollowingWrite): boolean {
    const { collection } = write;
    if ("insert" in write) {
      if (database.find(collection, { _id: write.insert._id }).length === 0)
        database.insert(collection, structuredClone(write.insert));
      return true;
    }
    const isPipeline = "expressions" in write;
    const set = "expressions" in write ? write.expressions : write.set;
    const updated = database.update(collection, write.filter, { set, isPipeline });
    return updated.length > 0 || database.find(collection, { _id: write.filter["_id"] }).length > 0;
  }

  async function follow(following: readonly FollowingWrite[]): Promise<void> {
    for (const write of following) {
      const name = `${write.collection}.follow`;
      if (await reach({ name, apply: () => apply(write) })) continue;
      for (const other of following) {
        if (!("insert" in other)) continue;
        const { collection, insert } = other;
        const remove = () => void database.remove(collection, { _id: insert._id });
        await reach({ name: `${collection}.takeBack`, apply: remove });
      }
      throw new RequestRemovedError({ id: String("filter" in write && write.filter["_id"]) });
    }
  }

  async function takeBack({ entry }: Turn): Promise<void> {
    const { writeId } = entry;
    const apply = () => {
      database.remove("journal", { _id: entryIdOf(entry), writeId });
      database.remove("outbox", { _id: writeId });
    };
    await reach({ name: "journal.takeBack", apply });
  }

  return {
    follow,
    async append(turn) {
      const { entry, following, isKept } = turn;
      const outboxId = { _id: entry.writeId };
      if (isKept) {
        const kept = toOutbox(turn);
        await reach({
          name: "outbox.insert",
          apply: () => {
            database.remove("outbox", outboxId);
            database.insert("outbox", { ...kept });
          },
        });
      }
      const found = (await log.insert([entry])).get(entryIdOf(entry));
      const isOwn = found === undefined || found.writeId === entry.writeId;
      if (isOwn) {
        try {
          await follow(following);
        } catch (error) {
          if (error instanceof RequestRemovedError) await takeBack(turn);
          throw error;
        }
      }
      if (isKept)
        await reach({
          name: "outbox.delete",
          apply: () => void database.remove("outbox", outboxId),
        });
      return isOwn ? undefined : found;
    },
  };
}
