import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startMongo, startRedis } from "@planwright/local";

/** A MongoDB and a Redis for one benchmark, with a folder for its files. */
export interface BenchServers {
  folder: string;
  redisUrl: string;
  /** The URL with the name of a database as its path. */
  mongodbUrl(database: string): string;
  /** Ends both servers and removes the folder. */
  stop(): Promise<void>;
}

/** Starts the servers. */
export async function startServers(): Promise<BenchServers> {
  const folder = await mkdtemp(join(tmpdir(), "planwright-bench-"));
  const [mongo, redis] = await Promise.all([
    startMongo({ dataDir: folder }),
    startRedis({ dataDir: folder }),
  ]);
  return {
    folder,
    redisUrl: redis.url,
    mongodbUrl: (database) => mongo.url.replace("/?", `/${database}?`),
    async stop() {
      await Promise.all([mongo.kill(), redis.kill()]);
      await rm(folder, { recursive: true, force: true });
    },
  };
}
