import { join } from "node:path";
import { Redis } from "ioredis";
import { startChild } from "../children/child.ts";
import { freePort } from "../children/free-port.ts";
import { ServerNotSuitableError } from "../errors.ts";
import { externalServer, type LocalServer, localServer, type ServerOptions } from "../local-server.ts";
import { makeFolder } from "../make-folder.ts";
import { findRedis } from "./find-redis.ts";

const NAME = "Redis";

/**
 * Starts a Redis with an append-only file and without eviction. `REDIS_URL` in the environment names a server
 * to use instead. Data is in `dataDir/redis`, the log in `dataDir/logs/redis.log`.
 * @throws {ServerNotAvailableError} no binary; {ServerNotSuitableError} for REDIS_URL; {ProcessNotReadyError}
 */
export async function startRedis(options: ServerOptions): Promise<LocalServer> {
  const { dataDir, env = process.env, say = () => undefined } = options;
  const external = env["REDIS_URL"];
  if (external !== undefined && external !== "") {
    await requireAnswer(external);
    return externalServer(NAME, external);
  }
  const command = await findRedis(env, say);
  const folder = join(dataDir, "redis");
  makeFolder(folder);
  const urlOf = (port: number) => `redis://127.0.0.1:${port}`;
  return localServer({
    name: NAME,
    ...options.supervision,
    choosePort: freePort,
    urlOf,
    spawn: (port) =>
      startChild({
        name: NAME,
        command,
        args: redisArguments(folder, port),
        env,
        logFile: join(dataDir, "logs", "redis.log"),
      }),
    isReady: (port) => answers(urlOf(port)),
  });
}

function redisArguments(folder: string, port: number): string[] {
  return [
    ["--port", String(port)],
    ["--bind", "127.0.0.1"],
    ["--dir", folder],
    ["--appendonly", "yes"],
    ["--save", ""],
    ["--maxmemory-policy", "noeviction"],
    ["--daemonize", "no"],
  ].flat();
}

/** Sends one PING on a new connection. Rejects when no server listens. */
async function answers(url: string): Promise<boolean> {
  const client = new Redis(url, { lazyConnect: true, retryStrategy: () => null, connectTimeout: 5_000 });
  client.on("error", () => undefined); // the same error rejects connect()
  try {
    await client.connect();
    return (await client.ping()) === "PONG";
  } finally {
    client.disconnect();
  }
}

async function requireAnswer(url: string): Promise<void> {
  await answers(url).catch((error: unknown) => {
    throw new ServerNotSuitableError("Redis", "The Redis that REDIS_URL names does not answer.", error);
  });
}
