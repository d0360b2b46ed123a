import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startMongo } from "../mongo/start-mongo.ts";
import { startRedis } from "../redis/start-redis.ts";

/** Addresses of the servers of one test run, as `inject("planwrightServers")` gives them. */
export interface ProvidedServers {
  mongodbUrl: string;
  redisUrl: string;
}

/** The part of Vitest's project that the setup uses. */
interface TestProject {
  provide(key: "planwrightServers", value: ProvidedServers): void;
}

/**
 * Vitest's global setup: one MongoDB and one Redis for the whole run, in a folder of their own that goes away with them.
 * A server that cannot be started fails the run; no test is ever skipped for lack of one.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dataDir = mkdtempSync(join(tmpdir(), "planwright-test-"));
  const say = (line: string) => void process.stderr.write(`${line}\n`);
  const [mongo, redis] = await Promise.all([startMongo({ dataDir, say }), startRedis({ dataDir, say })]);
  project.provide("planwrightServers", { mongodbUrl: mongo.url, redisUrl: redis.url });
  return async () => {
    // The data goes away: no reason to wait for an orderly end.
    await Promise.all([mongo.kill(), redis.kill()]);
    rmSync(dataDir, { recursive: true, force: true });
  };
}
