import { type PlanStatus, UNFINISHED_PLAN_STATUSES, WAIT_REASONS, type WaitReason } from "@planwright/plan";
import { ASKING_INDEX, type Collections, NEEDS_INDEX, WAITING_INDEX } from "../database/collections.ts";
import type { ServerClock } from "../database/server-clock.ts";
import type { PlanDocument } from "../records/plan-document.ts";
import type { WorkerKind } from "../records/worker-document.ts";
import { waitingIn } from "./fleet.ts";
import { isLive } from "./liveness.ts";

/** A number of documents, and the age of the oldest of them; null when there is none, or it is not known. */
interface Waiting {
  /** Counted up to {@link MAX_FIGURE}. */
  count: number;
  oldestAgeMs: number | null;
}

/** Figures of the whole system, of all tenants, for monitoring. */
export interface SystemFigures {
  /** Live workers that take work. */
  workers: Readonly<Record<WorkerKind, number>>;
  /**
   * Plans that have not ended, by status; those that wait also by reason. Each count is at most {@link
   * MAX_FIGURE}.
   */
  plans: { status: PlanStatus; reason: WaitReason | null; count: number }[];
  /**
   * Plans with calls that wait for approval or are in doubt, and requests with open questions. Plans that have
   * ended with a call in doubt are among them.
   */
  needs: ({ kind: "approval" | "doubt" | "answer" } & Waiting)[];
  /** Plans that wait for an executor, and requests that wait for a planner. */
  due: ({ work: "plans" | "requests" } & Waiting)[];
}

/** Maximum of each count of documents; a higher number is an alarm in any case. */
export const MAX_FIGURE = 10_000;
const MAX_WORKERS = 1_000;
/** Fixed by the collection of workers: documents are removed one hour after their last heartbeat. */
const BY_ID = { hint: { _id: 1 } } as const;

/**
 * Reads the figures of the whole system, if the process is the first worker: of all live ones the one that
 * started first. So one process reads them, and another one when that process dies. Every query reads an index
 * of unfinished work up to a limit, whatever the number of ended requests is.
 * @returns null for all other workers
 */
export function createReadFigures(
  collections: Pick<Collections, "workers" | "plans" | "requests">,
  clock: Pick<ServerClock, "now">,
): (owner: string) => Promise<SystemFigures | null> {
  const { workers, plans, requests } = collections;
  const limit = MAX_FIGURE;
  const plansIn = async (status: PlanStatus, reason: WaitReason | null) => ({
    status,
    reason,
    count:
      reason === null
        ? await plans.countDocuments({ status }, { limit })
        : await plans.countDocuments({ status, waitReason: reason }, { limit, hint: WAITING_INDEX }),
  });

  async function plansThatNeed(kind: NonNullable<PlanDocument["needs"]>[number], now: number) {
    const [count, [oldest]] = await Promise.all([
      plans.countDocuments({ needs: { $eq: kind } }, { limit, hint: NEEDS_INDEX }),
      plans
        .find(
          { needs: { $eq: kind }, needsSince: { $type: "date" } },
          { projection: { _id: 0, needsSince: 1 }, hint: NEEDS_INDEX },
        )
        .sort({ needsSince: 1 })
        .limit(1)
        .toArray(),
    ]);
    return { kind, count, oldestAgeMs: ageOf(oldest?.needsSince, now) };
  }

  async function requestsThatAsk(now: number) {
    const filter = { status: "NEEDS_INPUT" } as const;
    const [count, [oldest]] = await Promise.all([
      requests.countDocuments(filter, { limit, hint: ASKING_INDEX }),
      requests
        .find(filter, { projection: { _id: 0, updatedAt: 1 }, hint: ASKING_INDEX })
        .sort({ updatedAt: 1 })
        .limit(1)
        .toArray(),
    ]);
    return { kind: "answer" as const, count, oldestAgeMs: ageOf(oldest?.updatedAt, now) };
  }

  async function dueIn(work: "plans" | "requests", now: number) {
    const { due, oldest } = await waitingIn(collections, work, new Date(now));
    return { work, count: due, oldestAgeMs: oldest?.ageMs ?? null };
  }

  return async (owner) => {
    const live = await workers.find({ $expr: isLive }, BY_ID).limit(MAX_WORKERS).toArray();
    const [first] = live.toSorted(
      (one, other) => one.startedAt.getTime() - other.startedAt.getTime() || (one._id < other._id ? -1 : 1),
    );
    if (first?._id !== owner) return null;
    const now = clock.now();
    const taking = (kind: WorkerKind) =>
      live.filter((worker) => worker.kind === kind && worker.takesWork).length;
    const statuses = UNFINISHED_PLAN_STATUSES.flatMap((status): [PlanStatus, WaitReason | null][] =>
      status === "WAITING" ? REASONS.map((reason) => [status, reason]) : [[status, null]],
    );
    const [counts, needs, due] = await Promise.all([
      Promise.all(statuses.map(([status, reason]) => plansIn(status, reason))),
      Promise.all([plansThatNeed("approval", now), plansThatNeed("doubt", now), requestsThatAsk(now)]),
      Promise.all([dueIn("plans", now), dueIn("requests", now)]),
    ]);
    return {
      workers: { planner: taking("planner"), executor: taking("executor") },
      plans: counts,
      needs,
      due,
    };
  };
}

const REASONS = Object.keys(WAIT_REASONS) as WaitReason[];

function ageOf(since: Date | null | undefined, now: number): number | null {
  return since ? Math.max(0, now - since.getTime()) : null;
}
