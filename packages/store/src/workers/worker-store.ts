import type { Collections } from "../collections.ts";
import type { WorkerDocument, WorkerKind } from "../documents.ts";

/** How many worker processes of each kind are known to live. */
export type LiveWorkers = Readonly<Record<WorkerKind, number>>;

/** A worker that was silent for so long counts as dead, in milliseconds. */
export const WORKER_DEAD_AFTER_MS = 5_000;

/** Heartbeats of workers: what "no worker" rests on. Nothing that is safe depends on them. */
export interface WorkerStore {
  /** Says that a worker is alive, about once a second. */
  beat(worker: Pick<WorkerDocument, "_id" | "kind"> & { hasModel?: boolean }): Promise<void>;
  /** Says that a worker has stopped. */
  removeWorker(id: string): Promise<void>;
  /** The workers that said within 5 s that they are alive. */
  liveWorkers(): Promise<LiveWorkers>;
  /** True when planners live, and each of them says that it has no language model. */
  isModelMissing(): Promise<boolean>;
}

const isLive = { $gt: ["$seenAt", { $subtract: ["$$NOW", WORKER_DEAD_AFTER_MS] }] };

export function createWorkerStore({ workers }: Pick<Collections, "workers">): WorkerStore {
  return {
    async beat({ _id, kind, hasModel = null }) {
      const startedAt = { $ifNull: ["$startedAt", "$$NOW"] };
      await workers.updateOne({ _id }, [{ $set: { kind, hasModel, startedAt, seenAt: "$$NOW" } }], {
        upsert: true,
      });
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
