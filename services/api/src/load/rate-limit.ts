import { Redis } from "ioredis";
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from "rate-limiter-flexible";
import { RateLimitedError } from "../errors/access-errors.ts";

/** Counts what each caller asks for. */
export interface RateLimit {
  /** Counts one operation. @throws {RateLimitedError} above the limit */
  count(countedAs: string): Promise<void>;
  close(): void;
}

/** Settings of {@link createRateLimit}. */
export interface RateLimitOptions {
  /** Most operations of one caller in a minute. */
  perMinute: number;
  /** Shares the count with other processes of this service. Default: each process counts alone. */
  redis?: { url: string; prefix: string } | undefined;
}

const DURATION_S = 60;
const MAX_RECONNECT_DELAY_MS = 1_000;
const COMMAND_TIMEOUT_MS = 1_000;

/**
 * Counts in this process at once, and in Redis in the background: no operation waits for Redis. A caller that
 * exceeds the limit over all processes is refused here from then on. While Redis is away, each process counts
 * alone.
 */
export function createRateLimit({ perMinute, redis }: RateLimitOptions): RateLimit {
  const limit = { points: perMinute, duration: DURATION_S };
  const own = new RateLimiterMemory(limit);
  const client = redis && connect(redis.url);
  const shared =
    client &&
    new RateLimiterRedis({
      ...limit,
      storeClient: client,
      keyPrefix: `${redis.prefix}:rate`,
      rejectIfRedisNotReady: true,
    });

  async function countShared(countedAs: string): Promise<void> {
    try {
      await shared?.consume(countedAs);
    } catch (refused) {
      // Other errors mean that Redis is away, which the queues report.
      if (!(refused instanceof RateLimiterRes)) return;
      await own.block(countedAs, Math.ceil(refused.msBeforeNext / 1_000));
    }
  }

  return {
    async count(countedAs) {
      try {
        await own.consume(countedAs);
      } catch (refused) {
        if (!(refused instanceof RateLimiterRes)) throw refused;
        throw new RateLimitedError(perMinute, refused.msBeforeNext);
      }
      void countShared(countedAs);
    },
    close: () => client?.disconnect(),
  };
}

/** A connection that reconnects automatically, and fails commands at once while it is away. */
function connect(url: string): Redis {
  const client = new Redis(url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    commandTimeout: COMMAND_TIMEOUT_MS,
    retryStrategy: (times) => Math.min(50 * 2 ** Math.min(times, 10), MAX_RECONNECT_DELAY_MS),
  });
  // The queues of this process use the same server and report its errors.
  client.on("error", () => undefined);
  return client;
}
