import type { TenantLimits, TenantStore } from "@planwright/store";
import { LRUCache } from "lru-cache";

/** Dependencies of {@link createTenantLimits}. */
export interface TenantLimitsDependencies {
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
