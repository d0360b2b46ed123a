import type { Collections } from "../database/collections.ts";
import type { ServerClock } from "../database/server-clock.ts";
import { IS_HELD, LEASED_COLLECTIONS, leasedCollection } from "../leases/leased-collection.ts";
import type { WorkerDocument, WorkerKind } from "../records/worker-document.ts";
import { createReadFleet, type Fleet } from "./fleet.ts";
import { isLive, isSilent } from "./liveness.ts";

/** The workers that are known to live. */
export interface LiveWorkers extends Readonly<Record<WorkerKind, number>> {
  /**
   * Names of all of them. Those that are stopping are counted here alone: they take no more work, and end
   * what they hold.
   */
  readonly owners: ReadonlySet<string>;
}

/** A worker that was silent for so long counts as dead, in milliseconds, where it does not say otherwise. */
export const WORKER_DEAD_AFTER_MS = 5_000;

/** What a worker says of itself when it begins. */
export interface NewWorker extends Pick<WorkerDocument, "_id" | "kind"> {
  hasModel?: boolean | undefined;
  place?: string | null | undefined;
  /**
   * Silence after which others may take what it holds, in milliseconds. Default {@link WORKER_DEAD_AFTER_MS}.
   */
  deadAfterMs?: number | undefined;
}

/** What was taken from dead workers. */
export interface TakenFromDead {
  /** Names of the workers. */
  owners: string[];
  plans: number;
  requests: number;
}

/**
 * Heartbeats of workers (J2): a lease holds as long as its worker lives, and is never renewed.
 *
 * 1. A worker that was declared dead stays dead: it learns that from its next heartbeat, and continues under
 *    another name.
 * 2. What a worker holds that is dead, or that is not known at all, is made due. A process may be cut off
 *    while it does that: the next look does it again.
 * 3. Nothing that is safe depends on it: claims fence off the owner before. But a worker that starts no call
 *    later than its last answered heartbeat allows starts none that another one may be asking about.
 */
export interface WorkerStore {
  /** Says that a worker lives, before it claims anything. */
  addWorker(worker: NewWorker): Promise<void>;
  /**
   * Says that it is alive, about once a second. False when it was declared dead meanwhile, or is not known.
   */
  beat(id: string): Promise<boolean>;
  /** Says that it takes no more work; what it holds stays its own as long as it lives. */
  retireWorker(id: string): Promise<void>;
  /** Says that a worker has stopped: what it still holds is left to others. */
  removeWorker(id: string): Promise<void>;
  /**
   * Declares workers of this kind dead that listened at this place before, and did not say that they stopped:
   * a process listens there now. Returns how many there were.
   */
  declarePredecessorsDead(worker: Pick<WorkerDocument, "_id" | "kind"> & { place: string }): Promise<number>;
  /**
   * Makes due whatever dead and unknown workers hold.
   * @param options.declaresSilent - declares those dead that have been silent for too long; to be left out by
   *   a process that may have heard nothing for reasons of its own
   */
  takeFromDead(options: { declaresSilent: boolean }): Promise<TakenFromDead>;
  /** The workers that are known to live, how many of each kind take work, and who they are. */
  liveWorkers(): Promise<LiveWorkers>;
  /** The workers of all services, with what they hold and what waits for them, of all tenants. */
  readFleet(): Promise<Fleet>;
  /** True when planners live, and each of them says that it has no language model. */
  isModelMissing(): Promise<boolean>;
}

/**
 * How long a heartbeat waits for its answer, in milliseconds: the next one may find a connection that works.
 */
const BEAT_TIMEOUT_MS = 2_000;

export function createWorkerStore(
  collections: Pick<Collections, "workers" | "plans" | "requests">,
  clock: Pick<ServerClock, "now">,
): WorkerStore {
  const { workers } = collections;

  /** Owners of anything that are not among those that live. */
  async function deadOwners(): Promise<string[]> {
    // Owners first: a worker is added before it holds anything.
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

  /** Makes due what a dead worker holds, and counts it as lost. */
  async function takeFrom(owner: string): Promise<Omit<TakenFromDead, "owners">> {
    const held = { "lease.owner": { $eq: owner, ...IS_HELD }, dueAt: null };
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
    readFleet: createReadFleet(collections, clock),
    async addWorker({ _id, kind, hasModel = null, place = null, deadAfterMs = WORKER_DEAD_AFTER_MS }) {
      const said = { kind, hasModel, place: { $literal: place }, deadAfterMs, takesWork: true, deadAt: null };
      const times = { startedAt: "$$NOW", seenAt: "$$NOW" };
      await workers.updateOne({ _id }, [{ $set: { ...said, ...times } }], { upsert: true });
    },

    async beat(id) {
      const { matchedCount } = await workers.updateOne(
        { _id: id, deadAt: null },
        [{ $set: { seenAt: "$$NOW" } }],
        { timeoutMS: BEAT_TIMEOUT_MS },
      );
      return matchedCount === 1;
    },

    async retireWorker(id) {
      await workers.updateOne({ _id: id }, { $set: { takesWork: false } });
    },

    async removeWorker(id) {
      await workers.deleteMany({ _id: id });
    },

    async declarePredecessorsDead({ _id, kind, place }) {
      const predecessors = { _id: { $ne: _id }, kind, place, deadAt: null };
      return (await workers.updateMany(predecessors, [{ $set: { deadAt: "$$NOW" } }])).modifiedCount;
    },

    async takeFromDead({ declaresSilent }) {
      if (declaresSilent) await workers.updateMany({ $expr: isSilent }, [{ $set: { deadAt: "$$NOW" } }]);
      const owners = await deadOwners();
      const taken = await Promise.all(owners.map(takeFrom));
      return {
        owners,
        plans: taken.reduce((sum, { plans: some }) => sum + some, 0),
        requests: taken.reduce((sum, { requests: some }) => sum + some, 0),
      };
    },

    async isModelMissing() {
      const planners = await workers.find({ kind: "planner", takesWork: true, $expr: isLive }).toArray();
      return planners.length > 0 && planners.every(({ hasModel }) => hasModel === false);
    },

    async liveWorkers() {
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
