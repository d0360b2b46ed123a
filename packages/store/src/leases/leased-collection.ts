import { WAIT_REASONS } from "@planwright/plan";
import type { Collection } from "mongodb";
import { type Collections, LINES_INDEX } from "../database/collections.ts";
import type { Leased } from "../records/leased.ts";

/** The collections whose documents are leased. */
export const LEASED_COLLECTIONS = ["plans", "requests"] as const;

/** The fields of a document that leases use. */
export type LeasedDocument = Leased & { _id: string };

/** A collection, typed as one of leased documents. @typeParam Also - other fields that both kinds have */
export function leasedCollection<Also = unknown>(
  collections: Pick<Collections, (typeof LEASED_COLLECTIONS)[number]>,
  name: (typeof LEASED_COLLECTIONS)[number],
): Collection<LeasedDocument & Also> {
  // The driver's type names all fields of a document, so a collection cannot be assigned to one of a
  // supertype.
  return collections[name] as unknown as Collection<LeasedDocument & Also>;
}

/**
 * Filter for a due time before or at an instant; without an instant, for any due time. The type is named
 * because MongoDB otherwise does not use the partial indexes of due times, and scans all documents.
 */
export function isDue(by?: Date): { $type: "date"; $lte?: Date } {
  return by ? { $type: "date", $lte: by } : { $type: "date" };
}

/**
 * Filter for an owner of a lease. The type is named for the same reason: the indexes have only documents that
 * are held.
 */
export const IS_HELD = { $type: "string" } as const;

/**
 * Filter for work that a worker is doing. Work that was taken from a dead worker, or released for another one,
 * still names its last owner, but is due and not held.
 * @param owner - default: any worker
 */
export function heldBy(owner?: string): { "lease.owner": typeof IS_HELD & { $eq?: string }; dueAt: null } {
  const isOwner = owner === undefined ? IS_HELD : { $eq: owner, ...IS_HELD };
  return { "lease.owner": isOwner, dueAt: null };
}

/** Why a plan waits that is no work for anything but a person, until its deadline. */
const WAITS_FOR_PEOPLE = Object.entries(WAIT_REASONS).flatMap(([reason, { needs }]) =>
  needs === "nothing" || needs === "worker" ? [] : [reason],
);

/**
 * Number of documents that are due, now or later, or held. Counts up to a limit, with the partial indexes
 * alone.
 * @param tenant - only the work of this tenant, without plans that wait for a person. Default: all
 */
export async function countUnfinished(
  collections: Pick<Collections, (typeof LEASED_COLLECTIONS)[number]>,
  limit: number,
  tenant?: string,
): Promise<number> {
  const counts = LEASED_COLLECTIONS.flatMap((name) => {
    const collection = leasedCollection<{ tenant: string; waitReason?: string | null }>(collections, name);
    if (tenant === undefined)
      return [
        collection.countDocuments({ dueAt: isDue() }, { limit }),
        collection.countDocuments(heldBy(), { limit }),
      ];
    const isWork = { tenant, dueAt: isDue(), waitReason: { $nin: WAITS_FOR_PEOPLE } };
    return [
      collection.countDocuments(isWork, { limit, hint: LINES_INDEX }),
      collection.countDocuments({ ...heldBy(), tenant }, { limit }),
    ];
  });
  const unfinished = (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
  return Math.min(unfinished, limit);
}
