import { groupBy } from "@planwright/plan";
import DataLoader from "dataloader";
import type { Collection, Document } from "mongodb";

/** Options of a cursor that reads a list in one answer: with the default batch a long list takes several. */
export const IN_ONE_BATCH = { batchSize: 100_000 };

/** Several lists of one collection in one read, one for each pipeline, in their order. */
export async function readLists<T extends Document>(
  collection: Pick<Collection<T>, "aggregate">,
  name: string,
  pipelines: readonly Document[][],
): Promise<T[]> {
  const [first, ...others] = pipelines;
  if (!first) return [];
  const unions = others.map((pipeline) => ({ $unionWith: { coll: name, pipeline } }));
  return collection.aggregate<T>([...first, ...unions], IN_ONE_BATCH).toArray();
}

/** Maximum number of keys in one query. */
const MAX_KEYS = 200;

/**
 * Reads what a tenant has under an id; null for nothing. Ids of the same turn share one query for each tenant. Nothing
 * is cached.
 * @param read - what there is of the ids
 * @param idOf - the id of a result
 */
export function createTenantReads<Id extends string, T>(
  read: (tenant: string, ids: Id[]) => Promise<T[]>,
  idOf: (found: T) => string,
): (tenant: string, id: Id) => Promise<T | null> {
  async function readAll(keys: readonly { tenant: string; id: Id }[]): Promise<(T | null)[]> {
    const found = new Map<string, ReadonlyMap<string, T>>();
    const ofTenants = [...groupBy(keys, ({ tenant }) => tenant)].map(async ([tenant, own]) => {
      const ids = [...new Set(own.map(({ id }) => id))];
      found.set(tenant, new Map((await read(tenant, ids)).map((one) => [idOf(one), one])));
    });
    await Promise.all(ofTenants);
    return keys.map(({ tenant, id }) => found.get(tenant)?.get(id) ?? null);
  }
  const loader = new DataLoader(readAll, {
    cache: false,
    maxBatchSize: MAX_KEYS,
    batchScheduleFn: (send) => setImmediate(send),
  });
  return (tenant, id) => loader.load({ tenant, id });
}
