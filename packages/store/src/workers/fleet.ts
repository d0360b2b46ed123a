import type { Collections } from "../database/collections.ts";
import type { ServerClock } from "../database/server-clock.ts";
import {
  IS_HELD,
  isDue,
  type LEASED_COLLECTIONS,
  type LeasedDocument,
  leasedCollection,
} from "../leases/leased-collection.ts";
import type { RequestDocument } from "../records/request-document.ts";
import type { WorkerDocument } from "../records/worker-document.ts";
import { isLive, isSilent } from "./liveness.ts";

/** A worker that is alive, and what it holds. */
export interface FleetWorker
  extends Pick<WorkerDocument, "kind" | "hasModel" | "takesWork" | "startedAt" | "seenAt"> {
  name: string;
  /** Since its last heartbeat, in milliseconds. */
  silentMs: number;
  /** Plans of all tenants that an executor holds; requests that a planner holds. */
  holds: number;
}

/** A worker that died within the last hour. */
export interface LostWorker extends Pick<WorkerDocument, "kind" | "startedAt" | "seenAt" | "deadAt"> {
  name: string;
  /** Plans or requests of all tenants that it still held, as far as they have been taken from it. */
  leasesLost: number;
}

/** Work that no worker holds although it may be claimed. */
export interface WaitingWork {
  /** Of all tenants; counted up to {@link MAX_DUE}. */
  due: number;
  /** What has been due for the longest time; null when nothing is. */
  oldest:
    | (Pick<RequestDocument, "tenant"> & { requestId: RequestDocument["_id"]; since: Date; ageMs: number })
    | null;
}

/** The workers of all services, and what waits for them. */
export interface Fleet {
  /** When it was read. */
  at: Date;
  /** Executors, then planners, by name; {@link MAX_WORKERS} at most. */
  workers: FleetWorker[];
  /** The newest first; {@link MAX_LOST} at most. */
  lost: LostWorker[];
  /** Plans that wait for an executor. */
  plans: WaitingWork;
  /** Requests that wait for a planner. */
  requests: WaitingWork;
}

/** Most due plans, and most due requests, that are counted. */
export const MAX_DUE = 10_000;
const MAX_WORKERS = 1_000;
const MAX_LOST = 100;

/** Reads all workers, what they hold and what waits for them, of all tenants. */
export function createReadFleet(
  collections: Pick<Collections, "workers" | "plans" | "requests">,
  clock: Pick<ServerClock, "now">,
): () => Promise<Fleet> {
  const { workers } = collections;
  const liveNow = () =>
    workers.find({ $expr: isLive }).sort({ kind: 1, _id: 1 }).limit(MAX_WORKERS).toArray();
  const lostLately = () =>
    workers
      .find({ $or: [{ deadAt: { $ne: null } }, { $expr: isSilent }] })
      .sort({ seenAt: -1 })
      .limit(MAX_LOST)
      .toArray();

  async function holdsOf({ _id, kind }: WorkerDocument): Promise<number> {
    const held = leasedCollection(collections, kind === "executor" ? "plans" : "requests");
    return held.countDocuments({ "lease.owner": { $eq: _id, ...IS_HELD } });
  }

  async function waitingIn(name: (typeof LEASED_COLLECTIONS)[number], now: Date): Promise<WaitingWork> {
    const collection = leasedCollection<OldestWork>(collections, name);
    const filter = { dueAt: isDue(now) };
    const [due, [first]] = await Promise.all([
      collection.countDocuments(filter, { limit: MAX_DUE }),
      collection
        .find(filter, { projection: { tenant: 1, requestId: 1, dueAt: 1 } })
        .sort({ dueAt: 1 })
        .limit(1)
        .toArray(),
    ]);
    return { due, oldest: first ? oldestOf(first, now) : null };
  }

  return async () => {
    const at = new Date(clock.now());
    const [live, lost, ofPlans, ofRequests] = await Promise.all([
      liveNow(),
      lostLately(),
      waitingIn("plans", at),
      waitingIn("requests", at),
    ]);
    return {
      at,
      workers: await Promise.all(live.map(async (worker) => toWorker(worker, await holdsOf(worker), at))),
      lost: lost.map(toLost),
      plans: ofPlans,
      requests: ofRequests,
    };
  };
}

/** A plan, or a request, which has no `requestId` but its own. */
interface OldestWork extends Pick<RequestDocument, "tenant"> {
  requestId?: RequestDocument["_id"];
}

function oldestOf(
  { _id, requestId = _id, tenant, dueAt }: LeasedDocument & OldestWork,
  now: Date,
): WaitingWork["oldest"] {
  if (!dueAt) return null;
  return { tenant, requestId, since: dueAt, ageMs: Math.max(0, now.getTime() - dueAt.getTime()) };
}

function toWorker(
  { _id: name, kind, hasModel, takesWork, startedAt, seenAt }: WorkerDocument,
  holds: number,
  now: Date,
): FleetWorker {
  const silentMs = Math.max(0, now.getTime() - seenAt.getTime());
  return { name, kind, hasModel, takesWork, startedAt, seenAt, silentMs, holds };
}

function toLost({ _id: name, kind, startedAt, seenAt, deadAt, leasesLost = 0 }: WorkerDocument): LostWorker {
  return { name, kind, startedAt, seenAt, deadAt, leasesLost };
}
