import { groupBy } from "@planwright/plan";
import DataLoader from "dataloader";

/** Maximum number of keys in one query. */
const MAX_KEYS = 200;

/**
 * Reads everything that belongs to an id of a tenant. Ids of the same turn share one query for each tenant. Nothing
 * is cached.
 * @param read - everything that belongs to the ids
 * @param idOf - the id that a result belongs to
 */
export function createTenantReads<Id extends string, T>(
  read: (tenant: string, ids: Id[]) => Promise<T[]>,
  idOf: (found: T) => string,
): (key: { tenant: string; id: Id }) => Promise<T[]> {
  async function readAll(keys: readonly { tenant: string; id: Id }[]): Promise<T[][]> {
    const found = new Map<string, ReadonlyMap<string, T[]>>();
    const ofTenants = [...groupBy(keys, ({ tenant }) => tenant)].map(async ([tenant, own]) => {
      const ids = [...new Set(own.map(({ id }) => id))];
      found.set(tenant, groupBy(await read(tenant, ids), idOf));
    });
    await Promise.all(ofTenants);
    return keys.map(({ tenant, id }) => found.get(tenant)?.get(id) ?? []);
  }
  const loader = new DataLoader(readAll, {
    cache: false,
    maxBatchSize: MAX_KEYS,
    batchScheduleFn: (send) => setImmediate(send),
  });
  return (key) => loader.load(key);
}
