import type { Collection, Document } from "mongodb";

/**
 * Documents that one answer of MongoDB may hold: the default of 101 would make more reads of a longer list.
 */
export const WHOLE = { batchSize: 100_000 };

/**
 * Parts of several lists of one collection in one read, those of the first list first.
 * @param name - of the collection
 * @param pipelines - one for each list, each by an index
 */
export async function readLists<T extends Document>(
  collection: Pick<Collection<T>, "aggregate">,
  name: string,
  pipelines: readonly Document[][],
): Promise<T[]> {
  const [first, ...others] = pipelines;
  if (!first) return [];
  const unions = others.map((pipeline) => ({ $unionWith: { coll: name, pipeline } }));
  return collection.aggregate<T>([...first, ...unions], WHOLE).toArray();
}

/** What belongs to each id, in the order of the ids; the order inside stays. */
export function listsById<Id, T>(
  ids: readonly Id[],
  found: readonly T[],
  idOf: (one: T) => Id,
): Map<Id, T[]> {
  const lists = new Map<Id, T[]>(ids.map((id) => [id, []]));
  for (const one of found) lists.get(idOf(one))?.push(one);
  return lists;
}
