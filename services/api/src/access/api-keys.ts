import type { AccessStore, ApiKey } from "@planwright/store";
import { LRUCache } from "lru-cache";
import type { ApiLogger } from "../telemetry/api-logger.ts";
import type { Caller } from "./caller.ts";

/** How long a found key is cached, in milliseconds: a revoked key is accepted for at most this time. */
export const KNOWN_FOR_MS = 5_000;
const MAX_KNOWN = 10_000;
/** The use of a key is recorded at most once in this time, in milliseconds. */
const TOUCH_EVERY_MS = 60_000;

/** Dependencies of {@link createApiKeys}. */
export interface ApiKeysDependencies {
  store: Pick<AccessStore, "findApiKey" | "touchApiKey">;
  logger: ApiLogger;
}

/** Finds the caller of a key; undefined for a key that is unknown, revoked or expired. */
export function createApiKeys({
  store,
  logger,
}: ApiKeysDependencies): (secret: string) => Promise<Caller | undefined> {
  const known = new LRUCache<string, ApiKey>({ max: MAX_KNOWN, ttl: KNOWN_FOR_MS });
  const touched = new LRUCache<string, true>({ max: MAX_KNOWN, ttl: TOUCH_EVERY_MS });

  function touch(id: string): void {
    if (touched.has(id)) return;
    touched.set(id, true);
    store
      .touchApiKey(id)
      .catch((error: unknown) => logger.warn({ err: error }, "could not record the use of a key"));
  }

  return async (secret) => {
    const key = known.get(secret) ?? (await store.findApiKey(secret));
    if (!key || (key.expiresAt && key.expiresAt.getTime() <= Date.now())) return undefined;
    if (!known.has(secret)) known.set(secret, key);
    touch(key._id);
    const { _id: keyId, name, tenant, scopes, expiresAt } = key;
    return { countedAs: keyId, name, tenant, keyId, expiresAt, scopes: new Set(scopes) };
  };
}
