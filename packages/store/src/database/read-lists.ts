import type { Collection, Document } from "mongodb";

/**
 * Options of a cursor that reads a list in one answer: with the default batch of 101 a longer list takes
 * several.
 */
export const IN_ONE_BATCH = { batchSize: 100_000 };

/**
 * Several lists of one collection in one read, in the order of the pipelines.
 * @param name - name of the collection
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
  return collection.aggregate<T>([...first, ...unions], IN_ONE_BATCH).toArray();
}

/** Groups documents by id, in the order of the ids. The order within a group is kept. */
export function listsById<Id, T>(
  ids: readonly Id[],
  found: readonly T[],
  idOf: (one: T) => Id,
): Map<Id, T[]> {
  const lists = new Map<Id, T[]>(ids.map((id) => [id, []]));
  for (const one of found) lists.get(idOf(one))?.push(one);
  return lists;
}
