import type { Fleet, FleetWorker, LostWorker, WaitingWork } from "@planwright/store";
import { BadInputError } from "../errors/api-error.ts";
import type { GraphqlContext } from "./context.ts";

/** The caller that reads the fleet. */
interface FleetReader {
  tenant: string;
  /** True for operators: the numbers reveal the load of other tenants. */
  mayReadCounts: boolean;
}

type WorkerView = Omit<FleetWorker, "kind" | "holds"> & {
  kind: "EXECUTOR" | "PLANNER";
  holds: number | null;
};
type LostWorkerView = Omit<LostWorker, "kind" | "leasesLost"> & {
  kind: "EXECUTOR" | "PLANNER";
  leasesLost: number | null;
};
interface WaitingView {
  due: number;
  oldest: { since: Date; ageMs: number; requestId: string | null } | null;
}

/** The fleet for clients. */
interface FleetView {
  at: Date;
  workers: WorkerView[];
  lostWorkers: LostWorkerView[];
  plans: WaitingView | null;
  requests: WaitingView | null;
}

const KINDS = { executor: "EXECUTOR", planner: "PLANNER" } as const;

/**
 * The fleet as a caller may see it: numbers of all tenants only for operators, ids only of its own tenant.
 * Pure.
 */
export function toFleetView(fleet: Fleet, { tenant, mayReadCounts }: FleetReader): FleetView {
  const counted = <T>(count: T): T | null => (mayReadCounts ? count : null);
  const waiting = ({ due, oldest }: WaitingWork): WaitingView => ({
    due,
    oldest: oldest && {
      since: oldest.since,
      ageMs: oldest.ageMs,
      requestId: oldest.tenant === tenant ? oldest.requestId : null,
    },
  });
  return {
    at: fleet.at,
    workers: fleet.workers.map((worker) => ({
      ...worker,
      kind: KINDS[worker.kind],
      holds: counted(worker.holds),
    })),
    lostWorkers: fleet.lost.map((worker) => ({
      ...worker,
      kind: KINDS[worker.kind],
      leasesLost: counted(worker.leasesLost),
    })),
    plans: counted(waiting(fleet.plans)),
    requests: counted(waiting(fleet.requests)),
  };
}

/** Arguments of the sums. `before` absent: now. */
export interface CostTime {
  from: Date;
  before?: Date | null;
}

/** Longest time of the sums, in milliseconds. */
const MAX_TIME_MS = 31 * 86_400_000;

/** Costs of the caller's tenant. @throws {BadInputError} for an empty time and for one above 31 days */
export async function readCosts(
  { store, tenant, nowMs }: Pick<GraphqlContext, "store" | "tenant" | "nowMs">,
  { from, before: given }: CostTime,
) {
  const before = given ?? new Date(nowMs);
  if (from >= before) {
    const remedy = "Give a from that is earlier, and a before that is later, or none: then it is now.";
    throw new BadInputError("from", "The time ends before it begins", remedy);
  }
  if (before.getTime() - from.getTime() > MAX_TIME_MS) {
    throw new BadInputError("from", "The time is longer than 31 days", "Give a from that is later.");
  }
  const { models, requests, ...costs } = await store.modelCosts(tenant, { from, before });
  return {
    from,
    before,
    ...costs,
    models: models.map(({ model, ...cost }) => ({ model, cost })),
    requests: requests.map(({ requestId, ...cost }) => ({ requestId, cost })),
  };
}

/** How long a result is used, in milliseconds; and one that says that something is missing, which may be there by now. */
const FRESH_MS = 1_000;
const MISSING_FRESH_MS = 100;

/**
 * Reads at most once a second in this process, and gives all callers the same result.
 * @param isMissing - true for a result in which something is missing: it is read again after a tenth of that time
 */
export function readAtMostOnceASecond<T>(
  readNow: () => Promise<T>,
  isMissing: (value: T) => boolean = () => false,
): () => Promise<T> {
  let read: Promise<T> | undefined;
  let usedUntil = Number.NEGATIVE_INFINITY;
  return () => {
    const now = performance.now();
    if (read && now < usedUntil) return read;
    usedUntil = now + FRESH_MS;
    const reading = readNow();
    read = reading;
    // A failure is not cached: only its callers get it.
    reading.then(
      (value) => {
        if (read === reading && isMissing(value)) usedUntil = now + MISSING_FRESH_MS;
      },
      () => {
        if (read === reading) read = undefined;
      },
    );
    return reading;
  };
}
