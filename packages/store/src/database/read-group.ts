import DataLoader from "dataloader";

/** Reads everything that belongs to one key. Keys of the same turn share one query. Nothing is cached. */
export type ReadGroup<Key, T> = (key: Key) => Promise<T>;

/** An id within a tenant. */
export interface TenantKey<Id extends string = string> {
  tenant: string;
  id: Id;
}

/** Maximum number of keys in one query. */
const MAX_KEYS = 200;

/** @param read - what belongs to each key, in the order of the keys; a key may occur twice */
function createReadGroup<Key, T>(read: (keys: readonly Key[]) => Promise<T[]>): ReadGroup<Key, T> {
  const loader = new DataLoader<Key, T>(read, {
    cache: false,
    maxBatchSize: MAX_KEYS,
    batchScheduleFn: (send) => setImmediate(send),
  });
  return (key) => loader.load(key);
}

/**
 * Reads everything that belongs to an id of a tenant. The ids of one tenant are one query.
 *
 * @param read - everything that belongs to the ids
 * @param idOf - the id that a result belongs to
 */
export function createTenantReads<Id extends string, T>(
  read: (tenant: string, ids: Id[]) => Promise<T[]>,
  idOf: (found: T) => string,
): ReadGroup<TenantKey<Id>, T[]> {
  return createReadGroup(async (keys) => {
    const idsOf = new Map<string, Set<Id>>();
    for (const { tenant, id } of keys) {
      const ids = idsOf.get(tenant) ?? new Set();
      idsOf.set(tenant, ids.add(id));
    }
    const foundOf = new Map<string, Map<string, T[]>>();
    await Promise.all(
      [...idsOf].map(async ([tenant, ids]) => {
        const byId = new Map<string, T[]>([...ids].map((id) => [id, []]));
        for (const found of await read(tenant, [...ids])) byId.get(idOf(found))?.push(found);
        foundOf.set(tenant, byId);
      }),
    );
    return keys.map(({ tenant, id }) => foundOf.get(tenant)?.get(id) ?? []);
  });
}
