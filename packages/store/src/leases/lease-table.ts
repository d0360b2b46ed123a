/**
 * Leases (docs/architecture.md, J2): of requests for planners, and of plans for executors, by the same rules.
 *
 * 1. A claim raises the epoch in one conditional write by MongoDB's clock. The condition holds for only one
 *    claimer.
 * 2. A lease is valid as long as its worker lives (`worker-store.ts`): it has no deadline, and is
 *    never renewed. A worker releases leases that it holds without working on them.
 * 3. Safety comes from the journal: a claimer first appends that it took the lease. From then on appends of
 *    an earlier owner are refused.
 */
import { groupBy, PRIORITIES, type Priority, placeInLine, WAIT_REASONS } from "@planwright/plan";
import type { Collection, Document } from "mongodb";
import { CAN_DO_WORK, type Collections, LINES_INDEX } from "../database/collections.ts";
import type { StoreDependencies } from "../journal/dependencies.ts";
import type { GroupedDocuments } from "../journal/group-commit.ts";
import type { Leased, RequestDocument } from "../records/request-document.ts";

/** Work under a claim. */
export interface HeldLease<Id extends string> {
  id: Id;
  epoch: number;
}

/** The condition and the changes of a claim of one kind of work, in addition to the lease. */
export interface ClaimRules {
  /** What must hold for the document, in addition to being due. */
  condition: Document;
  /** Expressions of an update pipeline. Default: none. */
  expressions?: Document | undefined;
}

/** By MongoDB's clock. */
const IS_DUE_NOW = { $and: [{ $ne: ["$dueAt", null] }, { $lte: ["$dueAt", "$$NOW"] }, CAN_DO_WORK] };

/** Expressions by which a worker takes a lease. */
function takenBy(owner: string): Document {
  const epoch = { $add: ["$epoch", 1] };
  return {
    epoch,
    lease: { owner, epoch },
    takenFrom: { $ifNull: ["$lease.owner", null] },
    dueAt: null,
    claims: { $add: ["$claims", 1] },
    updatedAt: "$$NOW",
  };
}

/** The leases of a collection, for workers. */
export function createLeaseTable<Name extends keyof GroupedDocuments>(
  name: Name,
  { collections, group, clock }: StoreDependencies,
) {
  type Id = GroupedDocuments[Name]["_id"];
  const collection = leasedCollection<InLine>(collections, name);
  const projection = { tenant: 1, priority: 1, dueAt: 1 };
  /** The index is named, because MongoDB may prefer an index of all work of a tenant. */
  const ofLines = { projection, hint: LINES_INDEX };
  /** The tenant after which the next look at a long line begins. */
  let lastTenant = "";

  async function lineOf(tenant: string, now: Date, limit: number): Promise<InLine[]> {
    const lines = PRIORITIES.map((priority) =>
      collection
        .find(
          { tenant, priority: { $eq: priority === "normal" ? null : priority }, dueAt: isDue(now) },
          ofLines,
        )
        .sort({ dueAt: 1 })
        .limit(limit)
        .toArray(),
    );
    return inOrder((await Promise.all(lines)).flat()).slice(0, limit);
  }

  /** Some tenants with work that is due now or later, other ones at each call; without those that are full. */
  async function nextTenants(full: readonly string[]): Promise<string[]> {
    const seen: string[] = [];
    let isSecondRound = lastTenant === "";
    while (seen.length < TENANTS_AT_ONCE) {
      const [next] = await collection
        .find({ tenant: { $gt: lastTenant }, dueAt: isDue() }, ofLines)
        .sort({ tenant: 1, priority: 1, dueAt: 1 })
        .limit(1)
        .toArray();
      if (!next && isSecondRound) break;
      if (!next) isSecondRound = true;
      lastTenant = next?.tenant ?? "";
      if (!next) continue;
      if (seen.includes(next.tenant)) break;
      seen.push(next.tenant);
    }
    return seen.filter((tenant) => !full.includes(tenant));
  }

  return {
    /**
     * Claims work that is due. @returns the document under the lease; null when there is nothing to do, or another
     * worker has it by now
     * @throws {StoreUnavailableError}
     */
    async claim(
      id: Id,
      owner: string,
      { condition, expressions }: ClaimRules,
    ): Promise<GroupedDocuments[Name] | null> {
      const sentAt = clock.monotonic();
      const document = await group.writeAndRead({
        collection: name,
        id,
        condition: { ...condition, $expr: IS_DUE_NOW },
        expressions: { ...takenBy(owner), ...expressions },
      });
      if (document?.lease?.owner !== owner) return null;
      clock.observe(document.updatedAt, sentAt);
      return document;
    },

    /**
     * Work that is due and that no worker holds, for the sweeper: in turns over the tenants, and of each tenant by
     * priority and age. With more due work than `limit` it reads some tenants at each call, and the following ones
     * at the next, so that the line of one tenant never hides another one.
     * @param full - tenants to leave out
     */
    async findInTurns(limit: number, full: readonly string[]): Promise<{ id: Id; tenant: string }[]> {
      const now = new Date(clock.now());
      const oldest = await collection
        .find({ dueAt: isDue(now) }, { projection })
        .sort({ dueAt: 1 })
        .limit(limit)
        .toArray();
      // Fewer than the limit are all that is due.
      const lines =
        oldest.length < limit
          ? [
              ...groupBy(
                inOrder(oldest.filter(({ tenant }) => !full.includes(tenant))),
                ({ tenant }) => tenant,
              ).values(),
            ]
          : await Promise.all((await nextTenants(full)).map((tenant) => lineOf(tenant, now, limit)));
      return inTurns(lines)
        .slice(0, limit)
        .map(({ _id, tenant }) => ({ id: _id as Id, tenant }));
    },

    /** Work that a worker holds by the database: also where a claim's answer was lost or the work failed. */
    async findHeld(owner: string): Promise<HeldLease<Id>[]> {
      const filter = heldBy(owner);
      const held = await collection.find(filter, { projection: { "lease.epoch": 1 } }).toArray();
      return held.map(({ _id, lease }) => ({ id: _id as Id, epoch: lease?.epoch ?? 0 }));
    },

    /**
     * Makes work due now for any worker, unless it ended, was claimed again or was released meanwhile.
     * @returns the work that this call released
     * @throws {StoreUnavailableError}
     */
    async releaseUnheld(held: readonly HeldLease<Id>[]): Promise<HeldLease<Id>[]> {
      const releases = held.map(({ id, epoch }) =>
        group.write({
          collection: name,
          id,
          condition: { "lease.epoch": epoch, dueAt: null },
          expressions: { dueAt: "$$NOW" },
        }),
      );
      const isReleased = await Promise.all(releases);
      return held.filter((_, index) => isReleased[index]);
    },

    /**
     * Subtracts these claims from the claims without progress, each once even if this is repeated. Their lease was
     * lost, but the former owner is alive, so the work did not kill it. @throws {StoreUnavailableError}
     */
    async recordSurvived(held: readonly HeldLease<Id>[]): Promise<void> {
      const records = held.map(({ id, epoch }) =>
        group.write({
          collection: name,
          id,
          condition: {
            claims: { $gt: 0 },
            $and: [
              // Work that has ended is neither held nor due.
              { $or: [{ dueAt: { $ne: null } }, { lease: { $ne: null } }] },
              // A repeat after a lost answer does nothing, even if another process has written since.
              { $or: [{ survivedEpoch: null }, { survivedEpoch: { $lt: epoch } }] },
            ],
          },
          expressions: { claims: { $add: ["$claims", -1] }, survivedEpoch: epoch },
        }),
      );
      await Promise.all(records);
    },
  };
}

/** The fields by which due work is put in order. */
interface InLine {
  _id: string;
  tenant: string;
  priority?: Priority | null;
  dueAt: Date | null;
}

/** Number of tenants whose work is read by one look at more work than this process could do. */
const TENANTS_AT_ONCE = 16;

function inOrder<Work extends InLine>(work: readonly Work[]): Work[] {
  const placeOf = ({ dueAt, priority }: Work): number =>
    placeInLine(dueAt?.getTime() ?? 0, priority ?? undefined);
  return work.toSorted((one, other) => placeOf(one) - placeOf(other));
}

function inTurns<Work>(lines: readonly (readonly Work[])[]): Work[] {
  const longest = Math.max(0, ...lines.map(({ length }) => length));
  return Array.from({ length: longest }, (_, place) =>
    lines.flatMap((line) => line.slice(place, place + 1)),
  ).flat();
}

/** The leases of one kind of work. */
export type LeaseTable<Name extends keyof GroupedDocuments> = ReturnType<typeof createLeaseTable<Name>>;

/** The collections whose documents are leased. */
export const LEASED_COLLECTIONS = ["plans", "requests"] as const;

/** The fields of a document that leases use. */
type LeasedDocument = Leased & { _id: string };

/** A plan, or a request, whose `_id` is the id of the request. */
export interface WorkOfRequest extends Pick<RequestDocument, "tenant"> {
  requestId?: RequestDocument["_id"];
}

/** A collection, typed as one of leased documents. @typeParam Also - other fields that both kinds have */
export function leasedCollection<Also = unknown>(
  collections: Collections,
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

/** Filter for an owner of a lease, with its type for the same reason: the indexes have held documents only. */
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
  collections: Collections,
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
