export { OfferFailedError, RedisEvictsError } from "./errors.ts";
export type { QueueName } from "./names.ts";
export { createQueueWorker, type QueueWorker, type QueueWorkerOptions } from "./queue-worker.ts";
export { createQueues, type Queues, type QueuesOptions } from "./queues.ts";
export { createSweeper, type Sweeper, type SweeperOptions } from "./sweeper.ts";
