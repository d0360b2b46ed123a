import type { Collection, Document, Filter } from "mongodb";

/** Reads single documents; those asked for in the same turn share one question to MongoDB. Null when there is none. */
export type ReadGroup<T> = (id: string) => Promise<T | null>;

interface Waiter<T> {
  resolve: (document: T | null) => void;
  reject: (error: unknown) => void;
}

/** A read group over one collection. */
export function createReadGroup<T extends Document & { _id: string }>(
  collection: Collection<T>,
): ReadGroup<T> {
  let waiting = new Map<string, Waiter<T>[]>();

  async function ask(): Promise<void> {
    const asked = waiting;
    waiting = new Map();
    try {
      const filter = { _id: { $in: [...asked.keys()] } } as Document as Filter<T>;
      const found = await collection.find(filter).toArray();
      const byId = new Map<string, T>(found.map((document) => [document._id, document as T]));
      for (const [id, waiters] of asked) for (const { resolve } of waiters) resolve(byId.get(id) ?? null);
    } catch (error) {
      for (const waiters of asked.values()) for (const { reject } of waiters) reject(error);
    }
  }

  return (id) =>
    new Promise((resolve, reject) => {
      if (waiting.size === 0) setImmediate(() => void ask());
      const waiters = waiting.get(id) ?? [];
      waiters.push({ resolve, reject });
      waiting.set(id, waiters);
    });
}
