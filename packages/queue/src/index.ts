export type { OnError } from "./connection.ts";
export {
  connectFailFast,
  DEFAULT_PREFIX,
  inspectRedis,
  RedisEvictsError,
  RedisNotReachedError,
} from "./connection.ts";
export type { Hint, QueueName } from "./fair-queue.ts";
export { createFairQueue, createLocalFairQueue, type FairQueue, type QueuedHint } from "./fair-queue.ts";
export {
  MAX_PARTIAL_ANSWER,
  type PartialAnswer,
  type PartialAnswerReader,
  type PartialAnswerWriter,
} from "./partial-answers.ts";
export {
  createSlots,
  type Handle,
  type QueueWorker,
  type Slots,
  type SlotsParts,
  type WorkerOptions,
} from "./queue-worker.ts";
export {
  createLocalFirstQueues,
  createLocalQueues,
  createQueues,
  OfferDroppedError,
  type Queues,
  type QueuesOptions,
} from "./queues.ts";
export { createSweeper, type DueWork, type Sweeper, type SweeperOptions } from "./sweeper.ts";
export type { ToolLimit } from "./tool-limits.ts";
export {
  type Acquired,
  type Slot,
  type SlotRequest,
  type ToolLimits,
  type ToolLimitsOptions,
} from "./tool-limits.ts";
