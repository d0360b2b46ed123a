import { type EntryLog, entryIdOf } from "../journal/entry-log.ts";
import { type FollowingWrite, type TurnLog, toOutbox } from "../journal/turn-log.ts";
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
  function apply(write: FollowingWrite): void {
    const { collection } = write;
    if ("insert" in write) {
      if (database.find(collection, { _id: write.insert._id }).length === 0)
        database.insert(collection, structuredClone(write.insert));
    } else if ("set" in write) {
      database.update(collection, write.filter, { set: write.set, isPipeline: false });
    } else database.update(collection, write.filter, { set: write.expressions, isPipeline: true });
  }

  async function follow(following: readonly FollowingWrite[]): Promise<void> {
    for (const write of following)
      await reach({ name: `${write.collection}.follow`, apply: () => apply(write) });
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
      if (isOwn) await follow(following);
      if (isKept)
        await reach({
          name: "outbox.delete",
          apply: () => void database.remove("outbox", outboxId),
        });
      return isOwn ? undefined : found;
    },
  };
}
