import type { TenantStore } from "@planwright/store";

/** Dependencies of {@link createModelQuota}. */
interface ModelQuotaParts {
  store: Pick<TenantStore, "readTenantLimits" | "modelCallsPausedUntil">;
  /** Most model calls of a tenant within an hour, for tenants for which an operator set none. */
  maxPerHour: number;
  /** Called when planning for a tenant begins to wait. */
  onPaused: (tenant: string, pause: { maxPerHour: number; until: Date }) => void;
}

/**
 * The limit of model calls of each tenant. Beyond it no planner claims further requests of the tenant, so they
 * wait as they are and hold nothing; requests that a planner works on are finished, with a few calls more.
 */
export interface ModelQuota {
  /** True when work for the tenant may begin now. Otherwise the tenant is paused from now on. */
  allows(tenant: string): Promise<boolean>;
  /** The tenants that are paused. */
  paused(): readonly string[];
  /** Looks whether paused tenants may continue: an hour has passed, or an operator has raised their limit. */
  check(): Promise<void>;
}

/** A quota under which no tenant is paused yet. */
export function createModelQuota({ store, maxPerHour, onPaused }: ModelQuotaParts): ModelQuota {
  const paused = new Set<string>();

  async function allows(tenant: string): Promise<boolean> {
    const limits = await store.readTenantLimits(tenant);
    const max = limits.maxModelCallsPerHour ?? maxPerHour;
    const until = await store.modelCallsPausedUntil(tenant, max);
    if (until === null) {
      paused.delete(tenant);
      return true;
    }
    if (!paused.has(tenant)) onPaused(tenant, { maxPerHour: max, until });
    paused.add(tenant);
    return false;
  }

  return {
    allows,
    paused: () => [...paused],
    async check() {
      for (const tenant of paused) await allows(tenant);
    },
  };
}
