import { type PlanStatus, UNFINISHED_PLAN_STATUSES, WAIT_REASONS, type WaitReason } from "@planwright/plan";
import type { Document } from "mongodb";
import { ASKING_INDEX, type Collections, NEEDS_INDEX, WAITING_INDEX } from "../database/collections.ts";
import type { ServerClock } from "../database/server-clock.ts";
import type { PlanDocument } from "../records/plan-document.ts";
import type { RequestDocument, WorkerDocument, WorkerKind } from "../records/request-document.ts";
import {
  heldBy,
  isDue,
  type LEASED_COLLECTIONS,
  leasedCollection,
  type WorkOfRequest,
} from "./lease-table.ts";

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
  /** Counted up to {@link MAX_COUNTED}. */
  due: number;
  /** The work that has been due longest; null when nothing is due. */
  oldest:
    | (Pick<RequestDocument, "tenant"> & { requestId: RequestDocument["_id"]; since: Date; ageMs: number })
    | null;
}

/** The workers of all services, and the work that waits for them. */
export interface Fleet {
  at: Date;
  /** Executors, then planners, by name; at most {@link MAX_WORKERS}. */
  workers: FleetWorker[];
  /** The newest first; at most {@link MAX_LOST}. */
  lost: LostWorker[];
  plans: WaitingWork;
  requests: WaitingWork;
}

/** Maximum of each count of documents; a higher number is an alarm in any case. */
export const MAX_COUNTED = 10_000;
const MAX_WORKERS = 1_000;
const MAX_LOST = 100;

/** Reads all workers, the work that they hold and the work that waits for them, of all tenants. */
export async function readFleet(collections: Collections, clock: ServerClock): Promise<Fleet> {
  const { workers } = collections;
  const at = new Date(clock.now());
  const isLost = { $or: [{ deadAt: { $ne: null } }, { $expr: isSilent }] };
  const [live, lost, plans, requests] = await Promise.all([
    workers.find({ $expr: isLive }).sort({ kind: 1, _id: 1 }).limit(MAX_WORKERS).toArray(),
    workers.find(isLost).sort({ seenAt: -1 }).limit(MAX_LOST).toArray(),
    waitingIn(collections, "plans", at),
    waitingIn(collections, "requests", at),
  ]);
  const holding = live.map(async (worker) => {
    const held = leasedCollection(collections, worker.kind === "executor" ? "plans" : "requests");
    return toWorker(worker, await held.countDocuments(heldBy(worker._id)), at);
  });
  return { at, workers: await Promise.all(holding), lost: lost.map(toLost), plans, requests };
}

/**
 * Reads the work of one kind that is due and that no worker holds; one document, and an index up to a limit.
 * @param tenant - only its work, among that of all tenants that has waited longest. Default: of all tenants
 */
export async function waitingIn(
  collections: Collections,
  name: (typeof LEASED_COLLECTIONS)[number],
  now: Date,
  tenant?: string,
): Promise<WaitingWork> {
  const collection = leasedCollection<WorkOfRequest>(collections, name);
  const ofTenant = tenant === undefined ? {} : { tenant };
  const [waiting] = await collection
    .aggregate<{ due: number; since: Date }>([
      { $match: { dueAt: isDue(now) } },
      { $sort: { dueAt: 1 } },
      // Before the tenant, so that the waiting work of all other tenants is not scanned without a bound.
      { $limit: MAX_COUNTED },
      { $project: { _id: 0, tenant: 1, dueAt: 1 } },
      { $match: ofTenant },
      { $group: { _id: null, due: { $sum: 1 }, since: { $min: "$dueAt" } } },
    ])
    .toArray();
  if (!waiting) return { due: 0, oldest: null };
  const { due, since } = waiting;
  const first = await collection.findOne(
    { dueAt: { ...isDue(since), $gte: since }, ...ofTenant },
    { projection: { tenant: 1, requestId: 1 } },
  );
  if (!first) return { due, oldest: null };
  const { _id, requestId = _id } = first;
  return { due, oldest: { tenant: first.tenant, requestId, since, ageMs: ageOf(since, now.getTime()) } };
}

function toWorker(
  { _id: name, kind, hasModel, takesWork, startedAt, seenAt }: WorkerDocument,
  holds: number,
  now: Date,
): FleetWorker {
  const silentMs = ageOf(seenAt, now.getTime());
  return { name, kind, hasModel, takesWork, startedAt, seenAt, silentMs, holds };
}

function toLost({ _id: name, kind, startedAt, seenAt, deadAt, leasesLost = 0 }: WorkerDocument): LostWorker {
  return { name, kind, startedAt, seenAt, deadAt, leasesLost };
}

/** A number of documents, and the age of the oldest of them; null when there is none, or it is not known. */
interface Waiting {
  /** At most {@link MAX_COUNTED}. */
  count: number;
  oldestAgeMs: number | null;
}

/** Figures of the whole system, of all tenants, for monitoring. */
export interface SystemFigures {
  /** Live workers that take work. */
  workers: Readonly<Record<WorkerKind, number>>;
  /** Unfinished plans by status, waiting ones also by reason. Each count is at most {@link MAX_COUNTED}. */
  plans: { status: PlanStatus; reason: WaitReason | null; count: number }[];
  /**
   * Plans with approvals or doubts, also ended ones, requests with open questions, and tool servers that need a
   * sign-in.
   */
  needs: ({ kind: "approval" | "doubt" | "answer" | "sign-in" } & Waiting)[];
  /** Plans that wait for an executor, and requests that wait for a planner. */
  due: ({ work: "plans" | "requests" } & Waiting)[];
}

/** Fixed by the collection of workers: documents are removed one hour after their last heartbeat. */
const BY_ID = { hint: { _id: 1 } } as const;

/**
 * Reads the figures of the whole system, if the process is the first worker: of all live ones the one that
 * started first. So one process reads them, and another one when that process dies. Every query reads an index
 * of unfinished work up to a limit, whatever the number of ended requests is.
 * @returns null for all other workers
 */
export async function readFigures(
  collections: Collections,
  clock: ServerClock,
  owner: string,
): Promise<SystemFigures | null> {
  const { workers, plans, signIns } = collections;
  const limit = MAX_COUNTED;
  const live = await workers.find({ $expr: isLive }, BY_ID).limit(MAX_WORKERS).toArray();
  const [first] = live.toSorted(
    (one, other) => one.startedAt.getTime() - other.startedAt.getTime() || (one._id < other._id ? -1 : 1),
  );
  if (first?._id !== owner) return null;
  const now = clock.now();
  const plansIn = async (status: PlanStatus, reason: WaitReason | null) => ({
    status,
    reason,
    count:
      reason === null
        ? await plans.countDocuments({ status }, { limit })
        : await plans.countDocuments({ status, waitReason: reason }, { limit, hint: WAITING_INDEX }),
  });

  /** The number of documents, and the age of the oldest by a field that may be absent: both by one index. */
  async function waitingSince(
    name: (typeof LEASED_COLLECTIONS)[number],
    { filter, since, hint }: { filter: Document; since: "needsSince" | "updatedAt"; hint: string },
  ): Promise<Waiting> {
    const collection = leasedCollection<Pick<PlanDocument, "needsSince" | "updatedAt">>(collections, name);
    const [count, [oldest]] = await Promise.all([
      collection.countDocuments(filter, { limit, hint }),
      collection
        .find({ ...filter, [since]: { $type: "date" } }, { projection: { _id: 0, [since]: 1 }, hint })
        .sort({ [since]: 1 })
        .limit(1)
        .toArray(),
    ]);
    const oldestSince = oldest?.[since];
    return { count, oldestAgeMs: oldestSince ? ageOf(oldestSince, now) : null };
  }

  async function plansThatNeed(kind: NonNullable<PlanDocument["needs"]>[number]) {
    const needing = { filter: { needs: { $eq: kind } }, since: "needsSince", hint: NEEDS_INDEX } as const;
    return { kind, ...(await waitingSince("plans", needing)) };
  }

  async function requestsThatAsk() {
    const asking = { filter: { status: "NEEDS_INPUT" }, since: "updatedAt", hint: ASKING_INDEX } as const;
    return { kind: "answer" as const, ...(await waitingSince("requests", asking)) };
  }

  async function serversToSignIn() {
    const asking = await signIns
      .find({ asked: { $ne: null } }, { projection: { "asked.since": 1 }, ...BY_ID })
      .toArray();
    const ages = asking.flatMap(({ asked }) => (asked ? ageOf(asked.since, now) : []));
    const oldestAgeMs = ages.length > 0 ? Math.max(...ages) : null;
    return { kind: "sign-in" as const, count: asking.length, oldestAgeMs };
  }

  async function dueIn(work: "plans" | "requests") {
    const { due, oldest } = await waitingIn(collections, work, new Date(now));
    return { work, count: due, oldestAgeMs: oldest?.ageMs ?? null };
  }

  const taking = (kind: WorkerKind) =>
    live.filter((worker) => worker.kind === kind && worker.takesWork).length;
  const statuses = UNFINISHED_PLAN_STATUSES.flatMap((status): [PlanStatus, WaitReason | null][] =>
    status === "WAITING" ? REASONS.map((reason) => [status, reason]) : [[status, null]],
  );
  const [counts, needs, due] = await Promise.all([
    Promise.all(statuses.map(([status, reason]) => plansIn(status, reason))),
    Promise.all([plansThatNeed("approval"), plansThatNeed("doubt"), requestsThatAsk(), serversToSignIn()]),
    Promise.all([dueIn("plans"), dueIn("requests")]),
  ]);
  return {
    workers: { planner: taking("planner"), executor: taking("executor") },
    plans: counts,
    needs,
    due,
  };
}

const REASONS = Object.keys(WAIT_REASONS) as WaitReason[];

const ageOf = (since: Date, now: number): number => Math.max(0, now - since.getTime());

/** Time when a worker counts as silent, by the clock of MongoDB. */
const silentSince = { $add: ["$seenAt", "$deadAfterMs"] };

/** Expression: the worker was silent for so long that it may be declared dead, and that was not done yet. */
export const isSilent = { $and: [{ $eq: ["$deadAt", null] }, { $lte: [silentSince, "$$NOW"] }] };

/** Expression: the worker is alive. */
export const isLive = { $and: [{ $eq: ["$deadAt", null] }, { $gt: [silentSince, "$$NOW"] }] };
