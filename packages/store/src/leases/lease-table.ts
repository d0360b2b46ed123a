/**
 * Leases (DESIGN §6, J2): of requests for planners, and of plans for executors, by the same rules.
 *
 * 1. A claim raises the epoch in one conditional write by MongoDB's clock. The condition holds for only one
 *    claimer.
 * 2. A lease is valid as long as its worker lives (`workers/worker-store.ts`): it has no deadline, and is
 *    never renewed. A worker releases leases that it holds without working on them.
 * 3. Safety comes from the journal: a claimer first appends that it took the lease. From then on appends of
 *    an earlier owner are refused.
 */
import type { Document } from "mongodb";
import type { GroupCommit } from "../commit/group-commit.ts";
import type { Collections } from "../database/collections.ts";
import type { ServerClock } from "../database/server-clock.ts";
import type { PlanDocument } from "../records/plan-document.ts";
import type { RequestDocument } from "../records/request-document.ts";
import { heldBy, isDue, leasedCollection } from "./leased-collection.ts";

/** Work under a claim. */
export interface Held<Id extends string> {
  id: Id;
  epoch: number;
}

/** The leases of one kind of work, for workers. */
export interface LeaseStore<Id extends string> {
  /**
   * Work that a worker holds according to the database. That is more than it works on if the answer to a
   * claim was lost or its work failed.
   */
  findHeld(owner: string): Promise<Held<Id>[]>;
  /**
   * Makes work due now for any worker, unless it ended, was claimed again or was released meanwhile.
   * @returns the work that this call released
   * @throws {StoreUnavailableError}
   */
  releaseUnheld(held: readonly Held<Id>[]): Promise<Held<Id>[]>;
  /**
   * Subtracts these claims from the claims without progress, each once even if this is repeated. Their lease
   * was lost, but the former owner is alive, so the work did not kill it. @throws {StoreUnavailableError}
   */
  recordSurvived(held: readonly Held<Id>[]): Promise<void>;
  /** Work that is due and that no worker holds, oldest first: for the sweeper. */
  findDue(limit: number): Promise<Id[]>;
}

/** The documents that are leased. */
interface LeasedDocuments {
  plans: PlanDocument;
  requests: RequestDocument;
}

/** The condition and the changes of a claim of one kind of work, in addition to the lease. */
export interface ClaimRules {
  /** What must hold for the document, in addition to being due. */
  condition: Document;
  /** Expressions of an update pipeline. Default: none. */
  expressions?: Document | undefined;
}

/** The leases in one collection. */
export interface LeaseTable<Name extends keyof LeasedDocuments>
  extends LeaseStore<LeasedDocuments[Name]["_id"]> {
  /**
   * Claims work that is due. @returns the document under the lease; null when there is nothing to do, or
   * another worker has it by now
   * @throws {StoreUnavailableError}
   */
  claim(
    id: LeasedDocuments[Name]["_id"],
    owner: string,
    rules: ClaimRules,
  ): Promise<LeasedDocuments[Name] | null>;
}

/** By MongoDB's clock. */
const IS_DUE_NOW = { $and: [{ $ne: ["$dueAt", null] }, { $lte: ["$dueAt", "$$NOW"] }] };

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

/** The leases of a collection. */
export function createLeaseTable<Name extends keyof LeasedDocuments>(
  name: Name,
  { collections, group, clock }: { collections: Collections; group: GroupCommit; clock: ServerClock },
): LeaseTable<Name> {
  type Id = LeasedDocuments[Name]["_id"];
  const collection = leasedCollection(collections, name);

  return {
    async claim(id, owner, { condition, expressions }) {
      const sentAt = clock.monotonic();
      const document = await group.updateAndRead({
        collection: name,
        id,
        condition: { ...condition, $expr: IS_DUE_NOW },
        expressions: { ...takenBy(owner), ...expressions },
      });
      if (document?.lease?.owner !== owner) return null;
      clock.observe(document.updatedAt, sentAt);
      return document;
    },

    async findHeld(owner) {
      const filter = heldBy(owner);
      const held = await collection.find(filter, { projection: { "lease.epoch": 1 } }).toArray();
      return held.map(({ _id, lease }) => ({ id: _id as Id, epoch: lease?.epoch ?? 0 }));
    },

    async releaseUnheld(held) {
      const releases = held.map(({ id, epoch }) =>
        group.update({
          collection: name,
          id,
          condition: { "lease.epoch": epoch, dueAt: null },
          expressions: { dueAt: "$$NOW" },
        }),
      );
      const isReleased = await Promise.all(releases);
      return held.filter((_, index) => isReleased[index]);
    },

    async recordSurvived(held) {
      const records = held.map(({ id, epoch }) =>
        group.update({
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

    async findDue(limit) {
      const due = await collection
        .find({ dueAt: isDue(new Date(clock.now())) }, { projection: { _id: 1 } })
        .sort({ dueAt: 1 })
        .limit(limit)
        .toArray();
      return due.map(({ _id }) => _id as Id);
    },
  };
}
