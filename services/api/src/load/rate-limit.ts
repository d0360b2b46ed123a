import { connectFailFast } from "@planwright/queue";
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from "rate-limiter-flexible";
import { RateLimitedError } from "../errors/access-errors.ts";

/** Limits the rate of each caller's operations. */
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

/**
 * Counts in this process at once, and in Redis in the background: no operation waits for Redis. A caller that
 * exceeds the limit over all processes is refused here from then on. While Redis is unavailable, each process
 * counts alone.
 */
export function createRateLimit({ perMinute, redis }: RateLimitOptions): RateLimit {
  const limit = { points: perMinute, duration: DURATION_S };
  const local = new RateLimiterMemory(limit);
  const client = redis && connectFailFast(redis.url);
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
      // Other errors mean that Redis is unavailable, which the queues report.
      if (!(refused instanceof RateLimiterRes)) return;
      await local.block(countedAs, Math.ceil(refused.msBeforeNext / 1_000));
    }
  }

  return {
    async count(countedAs) {
      try {
        await local.consume(countedAs);
      } catch (refused) {
        if (!(refused instanceof RateLimiterRes)) throw refused;
        throw new RateLimitedError(perMinute, refused.msBeforeNext);
      }
      void countShared(countedAs);
    },
    close: () => client?.disconnect(),
  };
}
