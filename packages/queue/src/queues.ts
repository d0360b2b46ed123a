import { CodedError, placeInLine } from "@planwright/plan";
import { connect, DEFAULT_PREFIX, type OnError, openQueue, reportOnce } from "./connection.ts";
import { createFairQueue, createLocalFairQueue, type Hint, type QueueName } from "./fair-queue.ts";
import { createLocalToolLimits } from "./local-tool-limits.ts";
import {
  createLocalPartialAnswers,
  createPartialAnswerReader,
  createPartialAnswerWriter,
  type PartialAnswerReader,
  type PartialAnswerWriter,
} from "./partial-answers.ts";
import {
  createLocalWorker,
  createQueueWorker,
  type LocalWorker,
  type Place,
  type QueueWorker,
  type WorkerOptions,
} from "./queue-worker.ts";
import { createToolLimits, type ToolLimits, type ToolLimitsOptions } from "./tool-limits.ts";

/** Maximum number of hints that wait in memory. More are dropped; sweepers find their work. */
const MAX_PENDING = 10_000;
const CLOSE_WAIT_MS = 1_000;

/** Settings of {@link createQueues}. */
export interface QueuesOptions {
  redisUrl: string;
  /** Prefix of every key in Redis; default "planwright". Workers need the same. */
  prefix?: string;
  /** Called for errors, the same message once in 10 s; default: errors are dropped. */
  onError?: OnError;
  /** Maximum number of hints that may wait for Redis; default 10,000. */
  maxPending?: number;
}

/**
 * What the roles tell each other besides MongoDB, all of which may be lost: hints about work, slots under the limits
 * of tools, and answers of models while they arrive. In Redis for all processes, or in the memory of one.
 */
export interface Queues {
  /** Hints that a request waits for its plan. Never throws, never waits; the same request is queued once. */
  offerPlanning(request: Hint): void;
  /** Hints that a plan may be executed. Never throws, never waits; the same plan is queued once. */
  offerExecution(plan: Hint): void;
  /**
   * A place in the executor of this process for a plan that is about to be stored, so that it is stored as claimed.
   * Null without such an executor, and when that has no room: then the plan is offered when it is stored.
   */
  reserveExecution(plan: Hint): Place | null;
  /** Starts to take hints; see {@link createQueueWorker}. */
  startWorker(options: WorkerOptions): Promise<QueueWorker>;
  /** The limits of tools, for one executor. */
  openToolLimits(options: Pick<ToolLimitsOptions, "leaseMs" | "onError">): ToolLimits;
  /** @param shownText - makes the text to show of the text that arrived, such as one without secrets */
  openPartialAnswerWriter(shownText: (text: string) => string): PartialAnswerWriter;
  openPartialAnswerReader(): PartialAnswerReader;
  /** Waits at most 1 s for hints that are being sent, then disconnects. What was opened is closed before. */
  close(): Promise<void>;
}

/**
 * Opens the queues of all processes without waiting for Redis. While Redis does not answer, hints wait in memory, up to a
 * limit. They are only hints: sweepers find the work of lost hints in MongoDB.
 */
export function createQueues(options: QueuesOptions): Queues {
  const { redisUrl, prefix = DEFAULT_PREFIX, maxPending = MAX_PENDING } = options;
  const report = reportOnce(options.onError ?? (() => undefined));
  const client = connect(redisUrl, report);
  const queueOf = (name: QueueName) => ({
    queue: openQueue(name, { connection: client, prefix, report }),
    hints: createFairQueue(client, prefix, name),
  });
  const queues = { planning: queueOf("planning"), execution: queueOf("execution") };
  const pending = new Set<Promise<void>>();
  let isClosed = false;

  /** Puts the hint into the line of its tenant, and adds a job that takes the next hint of all lines. */
  async function send(name: QueueName, { _id: id, tenant, priority }: Hint): Promise<void> {
    const { hints, queue } = queues[name];
    const isNew = await hints.push({ id, tenant, place: placeInLine(Date.now(), priority) });
    if (isNew) await queue.add(name, {});
  }

  function offer(name: QueueName, hint: Hint): void {
    if (isClosed) return;
    if (pending.size >= maxPending) {
      report(new OfferDroppedError({ queue: name, pending: maxPending }), hint._id);
      return;
    }
    const sent = send(name, hint)
      .catch((error: unknown) => report(error, hint._id))
      .finally(() => pending.delete(sent));
    pending.add(sent);
  }

  return {
    offerPlanning: (request) => offer("planning", request),
    offerExecution: (plan) => offer("execution", plan),
    reserveExecution: () => null,
    startWorker: (worker) => createQueueWorker({ ...worker, redisUrl, prefix }),
    openToolLimits: (limits) => createToolLimits({ ...limits, redisUrl, prefix }),
    openPartialAnswerWriter: (shownText) => createPartialAnswerWriter({ redisUrl, prefix }, shownText),
    openPartialAnswerReader: () => createPartialAnswerReader({ redisUrl, prefix }),
    async close() {
      if (isClosed) return;
      isClosed = true;
      let timer: NodeJS.Timeout | undefined;
      const timeout = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, CLOSE_WAIT_MS);
      });
      await Promise.race([Promise.all(pending), timeout]);
      clearTimeout(timer);
      client.disconnect(); // pending commands reject and are reported; no caller waits for them
      await Promise.allSettled(Object.values(queues).map(({ queue }) => queue.close()));
    },
  };
}

/**
 * Adds the short way inside a process to queues of all processes: a hint goes to the worker of this process if that
 * has room, and to the others only when it has none. Such a hint takes no turn of its tenant: where there is room,
 * no tenant waits for its turn.
 */
export function createLocalFirstQueues(queues: Queues): Queues {
  const workers = new Map<QueueName, QueueWorker>();
  const isTakenHere = (name: QueueName, hint: Hint): boolean => workers.get(name)?.begin(hint) ?? false;
  return {
    ...queues,
    offerPlanning(request) {
      if (!isTakenHere("planning", request)) queues.offerPlanning(request);
    },
    offerExecution(plan) {
      if (!isTakenHere("execution", plan)) queues.offerExecution(plan);
    },
    reserveExecution: (plan) => workers.get("execution")?.reserve(plan) ?? null,
    async startWorker(options) {
      const worker = await queues.startWorker(options);
      workers.set(options.queue, worker);
      return worker;
    },
  };
}

/**
 * The queues of a process that works alone, without Redis: everything is in its memory. A worker takes hints
 * that were offered before it started.
 */
export function createLocalQueues({
  onError = () => undefined,
  maxPending = MAX_PENDING,
}: Pick<QueuesOptions, "onError" | "maxPending"> = {}): Queues {
  const report = reportOnce(onError);
  const lines = { planning: createLocalFairQueue(), execution: createLocalFairQueue() };
  const workers = new Map<QueueName, LocalWorker>();
  const answers = createLocalPartialAnswers();
  let isClosed = false;

  function offer(name: QueueName, { _id: id, tenant, priority }: Hint): void {
    if (isClosed) return;
    if (lines[name].size() >= maxPending) {
      report(new OfferDroppedError({ queue: name, pending: maxPending }), id);
      return;
    }
    lines[name]
      .push({ id, tenant, place: placeInLine(Date.now(), priority) })
      .then((isNew) => (isNew ? workers.get(name)?.look() : undefined))
      .catch((error: unknown) => report(error, id));
  }

  return {
    offerPlanning: (request) => offer("planning", request),
    offerExecution: (plan) => offer("execution", plan),
    reserveExecution: (plan) => workers.get("execution")?.reserve(plan) ?? null,
    async startWorker(options) {
      const worker = createLocalWorker(lines[options.queue], options);
      workers.set(options.queue, worker);
      return worker;
    },
    openToolLimits: (limits) => createLocalToolLimits(limits),
    openPartialAnswerWriter: (shownText) => answers.writer(shownText),
    openPartialAnswerReader: () => answers.reader(),
    async close() {
      isClosed = true;
    },
  };
}

/** A hint was dropped, because too many wait in memory. The sweeper finds the work. */
export class OfferDroppedError extends CodedError<{ queue: string; pending: number }> {
  readonly code = "OFFER_DROPPED";
  readonly retryable = true;
  constructor(facts: { queue: string; pending: number }) {
    super(`A hint for the ${facts.queue} queue was dropped: ${facts.pending} hints already wait`, facts);
  }
}
