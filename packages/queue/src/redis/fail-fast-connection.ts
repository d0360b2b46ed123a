import { Redis } from "ioredis";
import { reconnectDelay } from "./connection.ts";

const MAX_RECONNECT_DELAY_MS = 1_000;
const COMMAND_TIMEOUT_MS = 1_000;

/**
 * A connection that reconnects automatically, and fails commands at once while it is away: for what is done
 * without Redis when Redis does not answer. It reports no errors, since the queues of the process use the same
 * server and report them.
 */
export function connectFailFast(redisUrl: string): Redis {
  const client = new Redis(redisUrl, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    commandTimeout: COMMAND_TIMEOUT_MS,
    retryStrategy: reconnectDelay(MAX_RECONNECT_DELAY_MS),
  });
  client.on("error", () => undefined);
  return client;
}
