import { createHash } from "node:crypto";
import type { RandomBytes } from "@planwright/plan";
import type { Collection } from "mongodb";
import { z } from "zod";
import { type Collections, TENANT_CALLS_INDEX } from "./database/collections.ts";
import type { ServerClock } from "./database/server-clock.ts";
import type { StoreDependencies } from "./journal/dependencies.ts";
import {
  type ApiKeyDocument,
  ScopeSchema,
  type TenantChanges,
  TenantChangesSchema,
  type TenantDocument,
  type TenantLimits,
  TenantLimitsSchema,
  TenantSchema,
} from "./records/tenant-document.ts";

/** Keys of the API, with the scopes that they grant. */
export type AccessStore = ReturnType<typeof createAccessStore>;

const WITHOUT_HASH = { projection: { hash: 0 } } as const;
/** Maximum number of keys in a list. */
export const MAX_LISTED = 10_000;

/** Keys in MongoDB, found by their hash. */
export function createAccessStore({
  collections: { apiKeys },
  clock,
  randomBytes,
}: Pick<StoreDependencies, "collections" | "clock" | "randomBytes">) {
  const now = () => new Date(clock.now());
  const isValid = () => ({ revokedAt: null, $or: [{ expiresAt: null }, { expiresAt: { $gt: now() } }] });

  return {
    /**
     * Makes a key. `secret` is the key itself: it is returned here, once, and stored nowhere.
     * @throws {z.ZodError}
     */
    async createApiKey(input: NewApiKey): Promise<{ secret: string; key: ApiKey }> {
      const { tenant, name, scopes, expiresAt = null } = NewApiKeySchema.parse(input);
      const secret = newSecret(randomBytes);
      const key: ApiKey = {
        _id: newApiKeyId(randomBytes),
        tenant,
        name,
        scopes: [...new Set(scopes)],
        createdAt: now(),
        lastUsedAt: null,
        expiresAt,
        revokedAt: null,
      };
      await apiKeys.insertOne({ ...key, hash: hashOf(secret) });
      return { secret, key };
    },

    /** The key of a secret; null when there is none, or it has expired or was revoked. */
    findApiKey: (secret: string): Promise<ApiKey | null> =>
      apiKeys.findOne<ApiKey>({ hash: hashOf(secret), ...isValid() }, WITHOUT_HASH),

    /** Which of these keys, by their ids, are neither expired nor revoked: one read for any number of keys. */
    async findValidKeys(ids: readonly string[]): Promise<ReadonlySet<string>> {
      const found = await apiKeys
        .find({ _id: { $in: [...ids] }, ...isValid() }, { projection: { _id: 1 }, batchSize: ids.length + 1 })
        .toArray();
      return new Set(found.map(({ _id }) => _id));
    },

    /** All keys, also revoked ones, newest first. @param tenant - only keys of this tenant. Default: all */
    listApiKeys: (tenant?: string): Promise<ApiKey[]> =>
      apiKeys
        .find<ApiKey>(tenant === undefined ? {} : { tenant }, WITHOUT_HASH)
        .sort({ createdAt: -1 })
        .limit(MAX_LISTED)
        .toArray(),

    /** Revokes a key for ever. A second call keeps the time of the first. Null when there is none. */
    async revokeApiKey(id: string): Promise<ApiKey | null> {
      await apiKeys.updateOne({ _id: id, revokedAt: null }, { $set: { revokedAt: now() } });
      return apiKeys.findOne<ApiKey>({ _id: id }, WITHOUT_HASH);
    },

    async touchApiKey(id: string) {
      await apiKeys.updateOne({ _id: id }, { $set: { lastUsedAt: now() } });
    },
  };
}

/** A key as it is stored, without its hash. */
export type ApiKey = Omit<ApiKeyDocument, "hash">;

/** Input for a new key. */
export const NewApiKeySchema = z.object({
  tenant: TenantSchema,
  /** The holder's name, for people: it is shown with each approval that was given with this key. */
  name: z.string().regex(/^[^\p{C}]{1,100}$/u, "must be 1 to 100 visible characters"),
  scopes: z.array(ScopeSchema).min(1).max(10),
  /** Default: it does not expire. */
  expiresAt: z.date().optional(),
});
export type NewApiKey = z.infer<typeof NewApiKeySchema>;

const PREFIX = "pw_";
const SECRET_BYTES = 32;
const FORM = /^pw_[A-Za-z0-9_-]{43}$/;
const ID_LETTERS = "abcdefghijklmnopqrstuvwxyz234567";

/** A new key: "pw_" and 256 random bits in base64url. */
function newSecret(randomBytes: RandomBytes): string {
  const bytes = new Uint8Array(SECRET_BYTES);
  randomBytes(bytes);
  return PREFIX + Buffer.from(bytes).toString("base64url");
}

function newApiKeyId(randomBytes: RandomBytes): string {
  const bytes = new Uint8Array(16);
  randomBytes(bytes);
  const letters = Array.from(bytes, (byte) => ID_LETTERS[byte % ID_LETTERS.length]);
  return `key_${letters.join("")}`;
}

/** True for a text that has the form of our keys, whether or not such a key exists. */
export function isApiKeyShaped(text: string): boolean {
  return FORM.test(text);
}

function hashOf(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}

/** The tenants, and what operators set for them. */
export type TenantStore = ReturnType<typeof createTenantStore>;

const NO_LIMITS = Object.fromEntries(
  TenantLimitsSchema.keyof().options.map((name) => [name, null]),
) as Record<keyof TenantLimits, null>;
const HOUR_MS = 3_600_000;

/** The tenants in MongoDB. */
export function createTenantStore(collections: Collections, clock: ServerClock) {
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

    async tenantWeights(): Promise<ReadonlyMap<string, number>> {
      const weighted = await tenants
        .find({ weight: { $ne: null } })
        .limit(MAX_LISTED)
        .toArray();
      return new Map(weighted.flatMap(({ _id, weight }) => (weight ? [[_id, weight]] : [])));
    },

    /** When the tenant may call a model again after `maxPerHour` calls within an hour; null: now. One index. */
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
