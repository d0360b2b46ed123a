import type { Collection } from "mongodb";
import type { Collections } from "../database/collections.ts";
import type { Leased } from "../records/leased.ts";

/** The collections whose documents are leased. */
export const LEASED_COLLECTIONS = ["plans", "requests"] as const;

/** What leases need of a document. */
export type LeasedDocument = Leased & { _id: string };

/** A collection, seen as one of leased documents. @typeParam Also - other fields that both kinds have */
export function leasedCollection<Also = unknown>(
  collections: Pick<Collections, (typeof LEASED_COLLECTIONS)[number]>,
  name: (typeof LEASED_COLLECTIONS)[number],
): Collection<LeasedDocument & Also> {
  // The driver's type names all fields of a document, so no collection is of a supertype.
  return collections[name] as unknown as Collection<LeasedDocument & Also>;
}

/**
 * A due time before or at an instant; without one, any. The type has to be named: MongoDB does not see by
 * itself that a date is in the indexes of due times, and would look at every document ever written.
 */
export function isDue(by?: Date): { $type: "date"; $lte?: Date } {
  return by ? { $type: "date", $lte: by } : { $type: "date" };
}

/** An owner of a lease, for the same reason: the indexes hold only what is held. */
export const IS_HELD = { $type: "string" } as const;

/**
 * How much work is due, now or later, or held; counted up to a limit, by the indexes that hold nothing else.
 */
export async function countUnfinished(
  collections: Pick<Collections, (typeof LEASED_COLLECTIONS)[number]>,
  limit: number,
): Promise<number> {
  const counts = LEASED_COLLECTIONS.flatMap((name) => {
    const collection = leasedCollection(collections, name);
    return [
      collection.countDocuments({ dueAt: isDue() }, { limit }),
      collection.countDocuments({ "lease.owner": IS_HELD, dueAt: null }, { limit }),
    ];
  });
  const unfinished = (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
  return Math.min(unfinished, limit);
}
