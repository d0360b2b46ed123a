import type { Collection } from "mongodb";
import { type Collections, TENANT_CALLS_INDEX } from "./database/collections.ts";
import type { ServerClock } from "./database/server-clock.ts";
import {
  type TenantChanges,
  TenantChangesSchema,
  type TenantDocument,
  type TenantLimits,
  TenantLimitsSchema,
} from "./records/tenant-document.ts";

/** The tenants, and what operators set for them. */
export type TenantStore = ReturnType<typeof createTenantStore>;

const NO_LIMITS: TenantLimits = {
  maxUnfinishedPlans: null,
  maxSubscriptions: null,
  maxModelCallsPerHour: null,
  maxConnections: null,
  weight: null,
};
const HOUR_MS = 3_600_000;
const MAX_LISTED = 10_000;

/** The tenants in MongoDB. */
export function createTenantStore(collections: Collections, clock: Pick<ServerClock, "now">) {
  const { apiKeys, modelCalls, requests, tenants } = collections;
  const ofTenants = [apiKeys, requests] as unknown as Collection<{ tenant: string }>[];

  return {
    /** The limits of a tenant; all null when none were set. */
    async readTenantLimits(tenant: string): Promise<TenantLimits> {
      const found = await tenants.findOne({ _id: tenant });
      return found ? limitsOf(found) : NO_LIMITS;
    },

    /** Sets some limits of a tenant, which need not be known yet; null sets the default again. */
    async setTenantLimits(tenant: string, changes: TenantChanges): Promise<TenantLimits> {
      const updatedAt = new Date(clock.now());
      // Only one operator at a time changes the limits of a tenant.
      const found = await tenants.findOne({ _id: tenant });
      const given = Object.entries(TenantChangesSchema.parse(changes)).filter(
        ([, value]) => value !== undefined,
      );
      const limits = TenantLimitsSchema.parse({
        ...NO_LIMITS,
        ...(found && limitsOf(found)),
        ...Object.fromEntries(given),
      });
      await tenants.replaceOne({ _id: tenant }, { ...limits, updatedAt }, { upsert: true });
      return limits;
    },

    /** The tenants that have requests, keys or limits, by name, at most 10,000. */
    async listTenants(): Promise<({ tenant: string } & TenantLimits)[]> {
      const [stored, ...named] = await Promise.all([
        tenants.find().sort({ _id: 1 }).limit(MAX_LISTED).toArray(),
        ...ofTenants.map((collection) => collection.distinct("tenant")),
      ]);
      const limits = new Map(stored.map((document) => [document._id, limitsOf(document)]));
      const names = new Set([...limits.keys(), ...named.flat()]);
      return [...names]
        .toSorted()
        .slice(0, MAX_LISTED)
        .map((tenant) => ({ tenant, ...(limits.get(tenant) ?? NO_LIMITS) }));
    },

    /** The weights that were set. */
    async tenantWeights(): Promise<ReadonlyMap<string, number>> {
      const weighted = await tenants
        .find({ weight: { $ne: null } })
        .limit(MAX_LISTED)
        .toArray();
      return new Map(weighted.flatMap(({ _id, weight }) => (weight ? [[_id, weight]] : [])));
    },

    /**
     * When the tenant may make its next model call, if it has made `maxPerHour` within the last hour; null
     * when it has not. Calls of the offline drafter do not count. Reads an index, as many entries as that
     * number.
     */
    async modelCallsPausedUntil(tenant: string, maxPerHour: number) {
      // Only calls of a model have attempts. The index is named, because others begin with the tenant too.
      const [oldest] = await modelCalls
        .find(
          { tenant, createdAt: { $gt: new Date(clock.now() - HOUR_MS) }, attempt: { $gte: 1 } },
          { projection: { _id: 0, createdAt: 1 }, hint: TENANT_CALLS_INDEX },
        )
        .sort({ createdAt: -1 })
        .skip(maxPerHour - 1)
        .limit(1)
        .toArray();
      return oldest ? new Date(oldest.createdAt.getTime() + HOUR_MS) : null;
    },

    /** True when more than one tenant is known: it has a request, or was ever given a key. */
    async hasManyTenants() {
      // The first and the last tenant of each index: four reads of one entry, however many tenants there are.
      const ends = ofTenants.flatMap((collection) =>
        ([1, -1] as const).map((tenant) =>
          collection
            .find({}, { projection: { _id: 0, tenant: 1 } })
            .sort({ tenant })
            .limit(1)
            .toArray(),
        ),
      );
      return new Set((await Promise.all(ends)).flat().map(({ tenant }) => tenant)).size > 1;
    },
  };
}

function limitsOf(document: TenantDocument): TenantLimits {
  return TenantLimitsSchema.parse({ ...NO_LIMITS, ...document });
}
