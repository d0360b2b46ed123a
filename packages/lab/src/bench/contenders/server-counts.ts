import type { Redis } from "ioredis";
import type { MongoClient } from "mongodb";
import { z } from "zod";

const StatusSchema = z.object({
  metrics: z.object({
    document: z.object({
      inserted: z.coerce.number(),
      updated: z.coerce.number(),
      deleted: z.coerce.number(),
      returned: z.coerce.number(),
    }),
    commands: z.record(z.string(), z.unknown()),
  }),
});
const CommandSchema = z.object({ total: z.coerce.number() });

/** Commands of the driver and of this benchmark, which no plan causes. */
const NOT_OF_PLANS: ReadonlySet<string> = new Set(["hello", "isMaster", "ping", "serverStatus"]);

/**
 * Documents and commands since MongoDB started: `serverStatus` counts all clients, the waiting of change
 * streams included.
 */
export async function mongoCounts(client: MongoClient): Promise<Record<string, number>> {
  const status = await client.db("admin").command({ serverStatus: 1 });
  const { document, commands } = StatusSchema.parse(status).metrics;
  const totals = Object.entries(commands).map(([name, command]) => {
    const parsed = CommandSchema.safeParse(command); // some are numbers, or groups
    return parsed.success && !NOT_OF_PLANS.has(name) ? parsed.data.total : 0;
  });
  return {
    "documents written": document.inserted + document.updated + document.deleted,
    "documents read": document.returned,
    "MongoDB commands": totals.reduce((sum, total) => sum + total, 0),
  };
}

/** Commands since Redis started, those of scripts included. */
export async function redisCounts(redis: Redis): Promise<Record<string, number>> {
  const commands = /^total_commands_processed:(\d+)/m.exec(await redis.info("stats"))?.[1];
  return { "Redis commands": Number(commands ?? 0) };
}
