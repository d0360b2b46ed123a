import { randomUUID } from "node:crypto";
import type { MongoClient } from "mongodb";

/** An update like that of a step's result, with the same kinds and sizes of fields. */
function resultOf(index: number) {
  const now = new Date();
  const attempt = { attempt: 1, attemptId: randomUUID(), executor: "host:12345:abcdef01" };
  const end = { startedAt: now, endedAt: now, durationMs: 1, outcome: "completed", error: null };
  return {
    status: "COMPLETED",
    attempts: [{ ...attempt, ...end }],
    arguments: { value: 1 },
    argsHash: "0".repeat(64),
    output: { tool: "noop", value: 1 },
    writeId: `${attempt.attemptId}:${index}`,
    finishedAt: now,
    updatedAt: now,
  };
}

/**
 * Unordered bulk updates per second, majority and journalled, of the size of a step's result: the maximum of
 * MongoDB on this machine when nothing else uses it.
 */
export async function ceiling(client: MongoClient, bulkSize: number, forMs = 3_000): Promise<number> {
  const collection = client
    .db()
    .collection<{ _id: string }>("ceiling", { writeConcern: { w: "majority", journal: true } });
  const ids = Array.from(
    { length: bulkSize },
    (_, index) => `plan_1700000000_aaaaaaaaaaaaaaaaaaaa/s${index}`,
  );
  await collection.insertMany(ids.map((_id) => ({ _id, epoch: 1, status: "PENDING" })));
  const startedAt = performance.now();
  let writes = 0;
  while (performance.now() - startedAt < forMs) {
    const updates = ids.map((_id, index) => ({
      updateOne: { filter: { _id, epoch: 1 }, update: { $set: resultOf(writes + index) } },
    }));
    await collection.bulkWrite(updates, { ordered: false });
    writes += bulkSize;
  }
  const seconds = (performance.now() - startedAt) / 1_000;
  await collection.drop();
  return Math.round(writes / seconds);
}

/** Number of updates that the server has done since its start, and of the commands that requested them. */
export async function writeCounts(client: MongoClient): Promise<{ updates: number; commands: number }> {
  const status = await client.db("admin").command({ serverStatus: 1 });
  const { bulkWrite, update, findAndModify } = status["metrics"].commands;
  return {
    updates: Number(status["opcounters"].update) + Number(findAndModify.total),
    commands: Number(bulkWrite.total) + Number(update.total) + Number(findAndModify.total),
  };
}
