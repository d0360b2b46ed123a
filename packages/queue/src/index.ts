export {
  createPartialAnswerReader,
  createPartialAnswerWriter,
  MAX_PARTIAL_ANSWER,
  type PartialAnswer,
  type PartialAnswerReader,
  type PartialAnswersOptions,
  type PartialAnswerWriter,
} from "./answers/partial-answers.ts";
export type { Hint, QueueName } from "./jobs/fair-queue.ts";
export { createFairQueue, type FairQueue, type QueuedHint } from "./jobs/fair-queue.ts";
export {
  createQueueWorker,
  type QueueWorker,
  type QueueWorkerOptions,
} from "./jobs/queue-worker.ts";
export { createQueues, OfferDroppedError, type Queues, type QueuesOptions } from "./jobs/queues.ts";
export { createSlots, type Slots, type SlotsParts } from "./jobs/slots.ts";
export { createSweeper, type DueWork, type Sweeper, type SweeperOptions } from "./jobs/sweeper.ts";
export type { ToolLimit } from "./limits/tool-limits.ts";
export {
  type Acquired,
  createToolLimits,
  type Slot,
  type SlotRequest,
  type ToolLimits,
  type ToolLimitsOptions,
} from "./limits/tool-limits.ts";
export type { OnError } from "./redis/connection.ts";
export { DEFAULT_PREFIX, RedisEvictsError } from "./redis/connection.ts";
export { connectFailFast } from "./redis/fail-fast-connection.ts";
