import type { Collections } from "../database/collections.ts";
import type { ServerClock } from "../database/server-clock.ts";
import type { RequestDocument } from "../records/request-document.ts";
import type { WorkerDocument } from "../records/worker-document.ts";
import {
  heldBy,
  isDue,
  type LEASED_COLLECTIONS,
  type LeasedDocument,
  leasedCollection,
} from "./leased-collection.ts";
import { isLive, isSilent } from "./liveness.ts";

/** A live worker, and how much it holds. */
export interface FleetWorker
  extends Pick<WorkerDocument, "kind" | "hasModel" | "takesWork" | "startedAt" | "seenAt"> {
  name: string;
  /** Time since its last heartbeat, in milliseconds. */
  silentMs: number;
  /** Number of plans of all tenants that an executor holds, or of requests that a planner holds. */
  holds: number;
}

/** A worker that died within the last hour. */
export interface LostWorker extends Pick<WorkerDocument, "kind" | "startedAt" | "seenAt" | "deadAt"> {
  name: string;
  /** Number of plans or requests of all tenants that were taken from it after its death. */
  leasesLost: number;
}

/** Work that may be claimed and that no worker holds. */
export interface WaitingWork {
  /** Number for all tenants; counted up to {@link MAX_DUE}. */
  due: number;
  /** The work that has been due longest; null when nothing is due. */
  oldest:
    | (Pick<RequestDocument, "tenant"> & { requestId: RequestDocument["_id"]; since: Date; ageMs: number })
    | null;
}

/** The workers of all services, and the work that waits for them. */
export interface Fleet {
  /** Time of the reading. */
  at: Date;
  /** Executors, then planners, by name; at most {@link MAX_WORKERS}. */
  workers: FleetWorker[];
  /** The newest first; at most {@link MAX_LOST}. */
  lost: LostWorker[];
  /** Plans that wait for an executor. */
  plans: WaitingWork;
  /** Requests that wait for a planner. */
  requests: WaitingWork;
}

/** Maximum number of due plans, and of due requests, that are counted. */
export const MAX_DUE = 10_000;
const MAX_WORKERS = 1_000;
const MAX_LOST = 100;

/** Reads all workers, the work that they hold and the work that waits for them, of all tenants. */
export function createReadFleet(
  collections: Pick<Collections, "workers" | "plans" | "requests">,
  clock: Pick<ServerClock, "now">,
): () => Promise<Fleet> {
  const { workers } = collections;
  const liveNow = () =>
    workers.find({ $expr: isLive }).sort({ kind: 1, _id: 1 }).limit(MAX_WORKERS).toArray();
  const recentlyLost = () =>
    workers
      .find({ $or: [{ deadAt: { $ne: null } }, { $expr: isSilent }] })
      .sort({ seenAt: -1 })
      .limit(MAX_LOST)
      .toArray();

  async function holdsOf({ _id, kind }: WorkerDocument): Promise<number> {
    const held = leasedCollection(collections, kind === "executor" ? "plans" : "requests");
    return held.countDocuments(heldBy(_id));
  }

  return async () => {
    const at = new Date(clock.now());
    const [live, lost, ofPlans, ofRequests] = await Promise.all([
      liveNow(),
      recentlyLost(),
      waitingIn(collections, "plans", at),
      waitingIn(collections, "requests", at),
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

/** Reads the work of one kind that is due and that no worker holds; one document, and an index up to a limit. */
export async function waitingIn(
  collections: Pick<Collections, "plans" | "requests">,
  name: (typeof LEASED_COLLECTIONS)[number],
  now: Date,
): Promise<WaitingWork> {
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

/** A plan, or a request, whose `_id` is the id of the request. */
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
