import { STARTED_PLAN_STATUSES } from "@planwright/plan";
import { type Collections, isDue } from "../collections.ts";
import type { WorkerDocument, WorkerKind } from "../documents.ts";

/** How many worker processes of each kind are known to live. */
export type LiveWorkers = Readonly<Record<WorkerKind, number>>;

/** A worker that was silent for so long counts as dead, in milliseconds. */
export const WORKER_DEAD_AFTER_MS = 5_000;

/** Heartbeats of workers: what "no worker" rests on. Nothing that is safe depends on them. */
export interface WorkerStore {
  /** Says that a worker is alive, about once a second. */
  beat(
    worker: Pick<WorkerDocument, "_id" | "kind"> & { hasModel?: boolean; place?: string | null },
  ): Promise<void>;
  /**
   * Makes due what workers of this kind hold that listened at this place before, and that did not say that they stopped: a process listens there
   * now, so they are dead. Their leases need not be waited for. Returns how many such workers there were.
   */
  replacePredecessors(worker: Pick<WorkerDocument, "_id" | "kind"> & { place: string }): Promise<number>;
  /** Says that a worker has stopped. */
  removeWorker(id: string): Promise<void>;
  /** The workers that said within 5 s that they are alive. */
  liveWorkers(): Promise<LiveWorkers>;
  /** True when planners live, and each of them says that it has no language model. */
  isModelMissing(): Promise<boolean>;
}

const isLive = { $gt: ["$seenAt", { $subtract: ["$$NOW", WORKER_DEAD_AFTER_MS] }] };

export function createWorkerStore({
  workers,
  plans,
  requests,
}: Pick<Collections, "workers" | "plans" | "requests">): WorkerStore {
  /** Whatever these workers hold may be claimed now. The claims fence them off, should one of them live. */
  async function makeDue(kind: WorkerKind, owners: readonly string[]): Promise<void> {
    if (kind === "executor")
      await plans.updateMany({ status: { $in: STARTED_PLAN_STATUSES }, "lease.owner": { $in: owners } }, [
        { $set: { dueAt: "$$NOW" } },
      ]);
    else
      await requests.updateMany({ "planning.dueAt": isDue(), "planning.lease.owner": { $in: owners } }, [
        { $set: { "planning.dueAt": "$$NOW" } },
      ]);
  }

  return {
    async beat({ _id, kind, hasModel = null, place = null }) {
      const startedAt = { $ifNull: ["$startedAt", "$$NOW"] };
      const said = { kind, hasModel, place: { $literal: place } };
      await workers.updateOne({ _id }, [{ $set: { ...said, startedAt, seenAt: "$$NOW" } }], { upsert: true });
    },
    async replacePredecessors({ _id, kind, place }) {
      const earlier = await workers.find({ _id: { $ne: _id }, kind, place }).toArray();
      const owners = earlier.map((worker) => worker._id);
      if (owners.length === 0) return 0;
      await makeDue(kind, owners);
      // Last: what was cut off before is done again by the next one.
      await workers.deleteMany({ _id: { $in: owners } });
      return owners.length;
    },
    async removeWorker(id) {
      await workers.deleteOne({ _id: id });
    },
    async isModelMissing() {
      const planners = await workers.find({ kind: "planner", $expr: isLive }).toArray();
      return planners.length > 0 && planners.every(({ hasModel }) => hasModel === false);
    },
    async liveWorkers() {
      const counts = await workers
        .aggregate<{ _id: WorkerKind; count: number }>([
          { $match: { $expr: isLive } },
          { $group: { _id: "$kind", count: { $sum: 1 } } },
        ])
        .toArray();
      const of = (kind: WorkerKind) => counts.find(({ _id }) => _id === kind)?.count ?? 0;
      return { planner: of("planner"), executor: of("executor") };
    },
  };
}
