import type { Fleet, FleetWorker, LostWorker, WaitingWork } from "@planwright/store";

/** The caller that reads the fleet. */
export interface FleetReader {
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
export interface FleetView {
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
