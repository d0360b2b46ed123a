import { CodedError, placeInLine } from "@planwright/plan";
import { Queue } from "bullmq";
import type { Redis } from "ioredis";
import { connect, DEFAULT_PREFIX, type OnError, reportOnce } from "./connection.ts";
import { createFairQueue, type Hint, type QueueName } from "./fair-queue.ts";

/** Maximum number of hints that wait for Redis. More are dropped; sweepers find their work. */
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

/** The producer of both queues. */
export interface Queues {
  /** Hints that a request waits for its plan. Never throws, never waits; the same request is queued once. */
  offerPlanning(request: Hint): void;
  /** Hints that a plan may be executed. Never throws, never waits; the same plan is queued once. */
  offerExecution(plan: Hint): void;
  /** Waits at most 1 s for hints that are being sent, then disconnects. */
  close(): Promise<void>;
}

/**
 * Opens both queues without waiting for Redis. While Redis does not answer, hints wait in memory, up to a
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

/** The jobs of a queue over a connection that the caller closes. */
export function openQueue(
  name: QueueName,
  { connection, prefix, report }: { connection: Redis; prefix: string; report: OnError },
): Queue {
  const queue = new Queue(name, {
    connection,
    prefix,
    defaultJobOptions: { removeOnComplete: true, removeOnFail: true, attempts: 1 },
    streams: { events: { maxLen: 100 } },
  });
  queue.on("error", report);
  return queue;
}

/** A hint was dropped, because too many wait for a Redis that does not answer. The sweeper finds the work. */
export class OfferDroppedError extends CodedError<{ queue: string; pending: number }> {
  readonly code = "OFFER_DROPPED";
  readonly retryable = true;
  constructor(facts: { queue: string; pending: number }) {
    super(
      `A hint for the ${facts.queue} queue was dropped: ${facts.pending} hints already wait for Redis`,
      facts,
    );
  }
}
