export type { OnError } from "./connection.ts";
export { connectFailFast, DEFAULT_PREFIX, RedisEvictsError } from "./connection.ts";
export type { Hint, QueueName } from "./fair-queue.ts";
export { createFairQueue, type FairQueue, type QueuedHint } from "./fair-queue.ts";
export {
  createPartialAnswerReader,
  createPartialAnswerWriter,
  MAX_PARTIAL_ANSWER,
  type PartialAnswer,
  type PartialAnswerReader,
  type PartialAnswersOptions,
  type PartialAnswerWriter,
} from "./partial-answers.ts";
export {
  createQueueWorker,
  createSlots,
  type Handle,
  type QueueWorker,
  type QueueWorkerOptions,
  type Slots,
  type SlotsParts,
} from "./queue-worker.ts";
export { createQueues, OfferDroppedError, type Queues, type QueuesOptions } from "./queues.ts";
export { createSweeper, type DueWork, type Sweeper, type SweeperOptions } from "./sweeper.ts";
export type { ToolLimit } from "./tool-limits.ts";
export {
  type Acquired,
  createToolLimits,
  type Slot,
  type SlotRequest,
  type ToolLimits,
  type ToolLimitsOptions,
} from "./tool-limits.ts";
