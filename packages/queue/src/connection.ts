import { hash } from "node:crypto";
import { CodedError, noAnswerText } from "@planwright/plan";
import { Queue } from "bullmq";
import { Redis } from "ioredis";

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

/** How long {@link inspectRedis} waits for an answer, in milliseconds. */
const INSPECT_MS = 5_000;

/** Redis did not answer. */
export class RedisNotReachedError extends CodedError<{ address: string }> {
  readonly code = "REDIS_NOT_REACHED";
  readonly retryable = true;
  constructor(address: string, cause?: unknown) {
    super(noAnswerText("Redis", { at: address, setting: "REDIS_URL" }), { address }, { cause });
  }
}

/**
 * Looks at a Redis as a worker does when it starts, and changes nothing.
 * @returns the version of the server
 * @throws {RedisNotReachedError | RedisEvictsError}
 */
export async function inspectRedis(redisUrl: string): Promise<string> {
  const client = new Redis(redisUrl, {
    lazyConnect: true,
    retryStrategy: () => null,
    connectTimeout: INSPECT_MS,
    commandTimeout: INSPECT_MS,
  });
  client.on("error", () => undefined); // the same error rejects connect()
  try {
    await client.connect();
    await requireNoEviction(client);
    return /^redis_version:(\S+)/m.exec(await client.info("server"))?.[1] ?? "unknown";
  } catch (error) {
    if (error instanceof CodedError) throw error;
    throw new RedisNotReachedError(new URL(redisUrl).host, error);
  } finally {
    client.disconnect();
  }
}

/**
 * The wait before a connection to Redis is tried again, in milliseconds: 50, doubling up to a maximum. For
 * the option `retryStrategy` of ioredis.
 */
export function reconnectDelay(maxMs: number): (times: number) => number {
  return (times) => Math.min(50 * 2 ** Math.min(times, 10), maxMs);
}

/** Redis may evict keys, including jobs, when memory runs out. Workers do not start on such a server. */
export class RedisEvictsError extends CodedError<{ policy: string }> {
  readonly code = "REDIS_EVICTS";
  readonly retryable = false;
  constructor(policy: string) {
    super(
      `Redis has maxmemory-policy "${policy}"; the queue needs "noeviction". Start Redis with --maxmemory-policy noeviction, or run: redis-cli config set maxmemory-policy noeviction`,
      { policy },
    );
  }
}

/**
 * Receives errors that no caller waits for, to log them. It must not throw. @param id - the request or plan
 * that the error is about, if any
 */
export type OnError = (error: unknown, id?: string) => void;

const SAME_AGAIN_AFTER_MS = 10_000;
const MAX_REMEMBERED = 100;

/**
 * Passes each distinct message on once in 10 s: an unreachable Redis fails several times a second with the
 * same message.
 * @param now - milliseconds of any monotonic clock
 */
export function reportOnce(onError: OnError, now: () => number = () => performance.now()): OnError {
  const reportedAt = new Map<string, number>();
  return (error, id) => {
    const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    const last = reportedAt.get(message);
    if (last !== undefined && now() - last < SAME_AGAIN_AFTER_MS) return;
    if (reportedAt.size >= MAX_REMEMBERED) reportedAt.clear();
    reportedAt.set(message, now());
    onError(error, id);
  };
}

/** A Lua script of Redis; resolves with what the script returns. */
type Script = (
  client: Redis,
  keys: readonly string[],
  args: readonly (string | number)[],
) => Promise<unknown>;

/** A script that is sent once to each server, and then called by its hash. */
export function createScript(lua: string): Script {
  const sha = hash("sha1", lua);
  return async (client, keys, args) => {
    try {
      return await client.evalsha(sha, keys.length, ...keys, ...args);
    } catch (error) {
      if (!(error instanceof Error) || !error.message.startsWith("NOSCRIPT")) throw error;
      return await client.eval(lua, keys.length, ...keys, ...args);
    }
  };
}

const FAIL_FAST_RECONNECT_MS = 1_000;
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
    retryStrategy: reconnectDelay(FAIL_FAST_RECONNECT_MS),
  });
  client.on("error", () => undefined);
  return client;
}

/** The jobs of a queue over a connection that the caller closes. */
export function openQueue(
  name: string,
  { connection, prefix, report }: { connection: Redis; prefix: string; report: OnError },
): Queue {
  const queue = new Queue(name, {
    connection,
    prefix,
    defaultJobOptions: { removeOnComplete: true, removeOnFail: true, attempts: 1 },
    streams: { events: { maxLen: 100 } },
  });
  queue.on("error", report);
  return queue;
}
