export { OfferDroppedError, RedisEvictsError } from "./errors.ts";
export { executionJobId } from "./job.ts";
export type { ToolLimit } from "./limits/tool-limit.ts";
export {
  type Acquired,
  createToolLimits,
  type Place,
  type PlaceRequest,
  type ToolLimits,
  type ToolLimitsOptions,
} from "./limits/tool-limits.ts";
export { DEFAULT_PREFIX, type QueueName } from "./names.ts";
export {
  createQueueWorker,
  type QueueWorker,
  type QueueWorkerOptions,
} from "./queue-worker.ts";
export { createQueues, type Queues, type QueuesOptions } from "./queues.ts";
export type { OnError } from "./report-errors.ts";
export { createSweeper, type Sweeper, type SweeperOptions } from "./sweeper.ts";
