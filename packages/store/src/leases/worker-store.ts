import { setTimeout as delay } from "node:timers/promises";
import type { Collections } from "../database/collections.ts";
import type { ServerClock } from "../database/server-clock.ts";
import { StoreUnavailableError } from "../records/errors.ts";
import type { WorkerDocument, WorkerKind } from "../records/request-document.ts";
import { isLive, isSilent, readFigures, readFleet } from "./fleet.ts";
import { heldBy, IS_HELD, LEASED_COLLECTIONS, leasedCollection } from "./lease-table.ts";

/** The live workers: for each kind the number of those that take work. */
export interface LiveWorkers extends Readonly<Record<WorkerKind, number>> {
  /** Names of all live workers, also of stopping ones, which finish the work that they hold. */
  readonly owners: Pick<ReadonlySet<string>, "has">;
}

/** Default time without a heartbeat after which a worker may be declared dead, in milliseconds. */
export const WORKER_DEAD_AFTER_MS = 5_000;

/** A worker that starts. */
export interface NewWorker extends Pick<WorkerDocument, "_id" | "kind"> {
  hasModel?: boolean | undefined;
  addressKey?: string | null | undefined;
  /** Silence after which others may take its work, in milliseconds. Default {@link WORKER_DEAD_AFTER_MS}. */
  deadAfterMs?: number | undefined;
}

/** Work that was taken from dead workers. */
export interface TakenFromDead {
  owners: string[];
  plans: number;
  requests: number;
}

/**
 * Heartbeats of workers (J2): a lease is valid as long as its worker lives, and is never renewed.
 *
 * 1. A worker that was declared dead stays dead: its next heartbeat reports that, and the process continues
 *    under another name.
 * 2. The work of a dead or unknown worker is made due. If the process that does this dies, the next check
 *    repeats it.
 * 3. Safety does not depend on heartbeats: claims fence earlier owners. But a worker that starts no call
 *    later than its last answered heartbeat allows never starts a call while its successor looks up the
 *    result of that call.
 */
export type WorkerStore = ReturnType<typeof createWorkerStore>;

/** Timeout of a heartbeat, in milliseconds: the next one may get a working connection. */
const BEAT_TIMEOUT_MS = 2_000;

/** The driver's own `timeoutMS` has no effect since its version 7.8. @throws {StoreUnavailableError} */
async function answeredInTime<T>(beating: Promise<T>): Promise<T> {
  const done = new AbortController();
  const late = delay(BEAT_TIMEOUT_MS, undefined, { signal: done.signal }).then(() => {
    throw new StoreUnavailableError({ operation: "heartbeat" });
  });
  return Promise.race([beating, late]).finally(() => done.abort());
}

/** The heartbeats of all workers of a database, and the work of those that are dead. */
export function createWorkerStore(collections: Collections, clock: ServerClock) {
  const { workers } = collections;

  /** Owners of leases that are not live workers. */
  async function deadOwners(): Promise<string[]> {
    // Owners are read first: a worker is added before it holds anything.
    const found = await Promise.all(
      LEASED_COLLECTIONS.map((name) =>
        leasedCollection(collections, name).distinct("lease.owner", { "lease.owner": IS_HELD }),
      ),
    );
    const owners = [...new Set(found.flat())];
    if (owners.length === 0) return [];
    const living = new Set(await workers.distinct("_id", { _id: { $in: owners }, deadAt: null }));
    return owners.filter((owner) => !living.has(owner));
  }

  async function takeFrom(owner: string): Promise<Omit<TakenFromDead, "owners">> {
    const held = heldBy(owner);
    const makeDue = async (name: (typeof LEASED_COLLECTIONS)[number]): Promise<number> =>
      (await leasedCollection(collections, name).updateMany(held, [{ $set: { dueAt: "$$NOW" } }]))
        .modifiedCount;
    const [plans, requests] = await Promise.all([makeDue("plans"), makeDue("requests")]);
    const taken = { plans, requests };
    const leases = taken.plans + taken.requests;
    const leasesLost = { $add: [{ $ifNull: ["$leasesLost", 0] }, leases] };
    if (leases > 0) await workers.updateOne({ _id: owner }, [{ $set: { leasesLost } }]);
    return taken;
  }

  return {
    /** The workers of all services, what they hold, and what waits for them, of all tenants. */
    readFleet: () => readFleet(collections, clock),
    /** Figures of the whole system for monitoring, read by the first live worker; null for all others. */
    readFigures: (owner: string) => readFigures(collections, clock, owner),
    /** Adds a live worker, before it claims anything. */
    async addWorker({ _id, kind, hasModel, addressKey, deadAfterMs = WORKER_DEAD_AFTER_MS }: NewWorker) {
      const facts = {
        kind,
        hasModel: hasModel ?? null,
        addressKey: { $literal: addressKey ?? null },
        deadAfterMs,
        takesWork: true,
        deadAt: null,
      };
      const times = { startedAt: "$$NOW", seenAt: "$$NOW" };
      await workers.updateOne({ _id }, [{ $set: { ...facts, ...times } }], { upsert: true });
    },

    /**
     * Records a heartbeat, about once a second, and the time without one after which other workers may take
     * its work. False when the worker was declared dead meanwhile, or is unknown.
     * @throws {StoreUnavailableError} without an answer within 2 s
     */
    async beat(id: string, deadAfterMs: number) {
      const { matchedCount } = await answeredInTime(
        workers.updateOne({ _id: id, deadAt: null }, [{ $set: { seenAt: "$$NOW", deadAfterMs } }]),
      );
      return matchedCount === 1;
    },

    /** Records that a worker takes no more work. It keeps the work that it holds as long as it lives. */
    async retireWorker(id: string) {
      await workers.updateOne({ _id: id }, { $set: { takesWork: false } });
    },

    /** Removes a worker that has stopped. Other workers take the work that it still holds. */
    async removeWorker(id: string) {
      await workers.deleteMany({ _id: id });
    },

    /**
     * Declares dead the workers of this kind that listened at this address before and were not removed: a new
     * process listens there now. Returns their number.
     */
    async declarePredecessorsDead({
      _id,
      kind,
      addressKey,
    }: Pick<WorkerDocument, "_id" | "kind"> & { addressKey: string }) {
      const predecessors = { _id: { $ne: _id }, kind, addressKey, deadAt: null };
      return (await workers.updateMany(predecessors, [{ $set: { deadAt: "$$NOW" } }])).modifiedCount;
    },

    /**
     * Makes the work of dead and unknown workers due.
     * @param options.declaresSilent - also declares silent workers dead. False in a process that may itself
     *   have been cut off from MongoDB
     */
    async takeFromDead({ declaresSilent }: { declaresSilent: boolean }): Promise<TakenFromDead> {
      if (declaresSilent) await workers.updateMany({ $expr: isSilent }, [{ $set: { deadAt: "$$NOW" } }]);
      const owners = await deadOwners();
      const taken = await Promise.all(owners.map(takeFrom));
      return {
        owners,
        plans: taken.reduce((sum, { plans: some }) => sum + some, 0),
        requests: taken.reduce((sum, { requests: some }) => sum + some, 0),
      };
    },

    /** True when there are live planners and none of them has a language model. */
    async isModelMissing() {
      const planners = await workers.find({ kind: "planner", takesWork: true, $expr: isLive }).toArray();
      return planners.length > 0 && planners.every(({ hasModel }) => hasModel === false);
    },

    /**
     * The latest heartbeat of each live worker, by name, in Unix milliseconds of MongoDB's clock.
     * @param options.exceptAt - leaves out those that listened at the address with this key
     */
    async readHeartbeats({ exceptAt }: { exceptAt: string | null }): Promise<Map<string, number>> {
      const others = exceptAt === null ? {} : { addressKey: { $ne: exceptAt } };
      const live = await workers.find({ $expr: isLive, ...others }).toArray();
      return new Map(live.map(({ _id, seenAt }) => [_id, seenAt.getTime()]));
    },

    /** The live workers: how many of each kind take work, and the names of all. */
    async liveWorkers(): Promise<LiveWorkers> {
      const live = await workers.find({ $expr: isLive }).toArray();
      const of = (kind: WorkerKind): number =>
        live.filter((worker) => worker.kind === kind && worker.takesWork).length;
      return {
        planner: of("planner"),
        executor: of("executor"),
        owners: new Set(live.map(({ _id }) => _id)),
      };
    },
  };
}
