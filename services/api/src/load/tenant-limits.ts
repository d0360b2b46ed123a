import { connectFailFast } from "@planwright/queue";
import type { TenantLimits, TenantStore } from "@planwright/store";
import { LRUCache } from "lru-cache";
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from "rate-limiter-flexible";
import { RateLimitedError } from "../errors/api-error.ts";

/** Dependencies of {@link createTenantLimits}. */
interface TenantLimitsDependencies {
  store: Pick<TenantStore, "readTenantLimits">;
  /** The limits of a tenant for which an operator set none. */
  defaults: Limits;
  /** Milliseconds of a monotonic clock. Default: performance.now. */
  now?: (() => number) | undefined;
}

type Limits = { [name in Exclude<keyof TenantLimits, "weight">]: number };

/** How long limits are used, in milliseconds: a change is in force after that. */
const USED_FOR_MS = 5_000;
/** Most tenants whose limits are kept. */
const MAX_KEPT = 10_000;

/**
 * Reads the limits of tenants, of each one about every 5 s. While the database does not answer, the earlier
 * limits or the defaults are used: the operation itself will fail.
 */
export function createTenantLimits({
  store,
  defaults,
  now = () => performance.now(),
}: TenantLimitsDependencies): (tenant: string) => Promise<Limits> {
  const known = new LRUCache<string, { readAt: number; limits: Promise<Limits> }>({ max: MAX_KEPT });

  async function read(tenant: string, before: Promise<Limits>): Promise<Limits> {
    try {
      const set = await store.readTenantLimits(tenant);
      return {
        maxUnfinishedPlans: set.maxUnfinishedPlans ?? defaults.maxUnfinishedPlans,
        maxSubscriptions: set.maxSubscriptions ?? defaults.maxSubscriptions,
        maxConnections: set.maxConnections ?? defaults.maxConnections,
        maxModelCallsPerHour: set.maxModelCallsPerHour ?? defaults.maxModelCallsPerHour,
      };
    } catch {
      return before;
    }
  }

  return (tenant) => {
    const found = known.get(tenant);
    if (found && now() - found.readAt < USED_FOR_MS) return found.limits;
    const limits = read(tenant, found?.limits ?? Promise.resolve(defaults));
    known.set(tenant, { readAt: now(), limits });
    return limits;
  };
}

/** Limits the rate of each caller's operations. */
export interface RateLimit {
  /** Counts one operation. @throws {RateLimitedError} above the limit */
  count(countedAs: string): Promise<void>;
  close(): void;
}

/** Settings of {@link createRateLimit}. */
interface RateLimitOptions {
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
