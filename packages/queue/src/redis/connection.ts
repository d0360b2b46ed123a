import { Redis } from "ioredis";
import { reconnectDelay } from "./reconnect-delay.ts";
import { RedisEvictsError } from "./redis-evicts-error.ts";
import type { OnError } from "./report-once.ts";

/** Default prefix of all keys in Redis. */
export const DEFAULT_PREFIX = "planwright";

const MAX_RECONNECT_DELAY_MS = 1_000;

/**
 * A connection that reconnects: commands wait for it without limit, because their sender does not wait. After
 * 30 s without an answer the server is disconnected and connected to again.
 */
export function connect(redisUrl: string, onError: OnError): Redis {
  const client = new Redis(redisUrl, {
    maxRetriesPerRequest: null,
    retryStrategy: reconnectDelay(MAX_RECONNECT_DELAY_MS),
    reconnectOnError: (error) => error.message.startsWith("READONLY"), // a failover made this one a replica
    keepAlive: 10_000,
    connectTimeout: 10_000,
    socketTimeout: 30_000,
  });
  client.on("error", onError);
  return client;
}

/**
 * @throws {RedisEvictsError} unless Redis keeps every key. Uses INFO, because hosted servers often forbid
 * CONFIG.
 */
export async function requireNoEviction(client: Redis): Promise<void> {
  const info = await client.info("memory");
  const policy = /^maxmemory_policy:(\S+)/m.exec(info)?.[1] ?? "unknown";
  if (policy !== "noeviction") throw new RedisEvictsError(policy);
}
