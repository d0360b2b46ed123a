import type { RandomBytes } from "@planwright/plan";
import { type ApiKey, hashOf, type NewApiKey, NewApiKeySchema, newApiKeyId, newSecret } from "./api-key.ts";
import type { Collections } from "./database/collections.ts";
import type { ServerClock } from "./database/server-clock.ts";

/** Keys of the API, with the scopes that they grant. */
export type AccessStore = ReturnType<typeof createAccessStore>;

const WITHOUT_HASH = { projection: { hash: 0 } } as const;
/** Maximum number of keys in a list. */
const MAX_LISTED = 10_000;

/** Keys in MongoDB, found by their hash. */
export function createAccessStore(parts: {
  collections: Collections;
  clock: ServerClock;
  randomBytes: RandomBytes;
}) {
  const { clock, randomBytes } = parts;
  const { apiKeys } = parts.collections;
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

    /**
     * Which of these keys, by their ids, are neither expired nor revoked: one read for any number of keys.
     */
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

    /** Records that a key was used now. */
    async touchApiKey(id: string) {
      await apiKeys.updateOne({ _id: id }, { $set: { lastUsedAt: now() } });
    },
  };
}
