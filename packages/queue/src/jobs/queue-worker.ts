import { setTimeout as delay } from "node:timers/promises";
import { Queue, UnrecoverableError, Worker } from "bullmq";
import type { Redis } from "ioredis";
import { connect, DEFAULT_PREFIX, requireNoEviction } from "../redis/connection.ts";
import { type OnError, reportOnce } from "../redis/report-once.ts";
import { type JobData, JobDataSchema, type QueueName } from "./job.ts";

/** How long starting waits for a Redis that does not answer, in milliseconds. */
const START_WAIT_MS = 3_000;
const ABORT_WAIT_MS = 2_000;
/** "Out of the way": how often a job was lost says nothing here, MongoDB counts claims. */
const NO_STALLED_LIMIT = 1_000_000;

/** What a worker does. */
export interface QueueWorkerOptions {
  redisUrl: string;
  /** The prefix that the offering side uses; default "planwright". */
  prefix?: string;
  queue: QueueName;
  /** Jobs under way at once, from 1. */
  concurrency: number;
  /**
   * Looks at one request or plan. A job is a hint and may come twice or late: MongoDB decides whether there is work.
   * A rejection is reported and the job is gone; the sweeper brings the work back. `signal` is aborted when the worker closes
   * and its grace is over.
   */
  handle: (id: string, signal: AbortSignal) => Promise<void>;
  /** Hears of trouble, the same words once in 10 s. */
  onError: OnError;
}

/** A worker that takes jobs. */
export interface QueueWorker {
  /** True while Redis answers and jobs are taken. */
  isConnected(): boolean;
  /** Jobs that no worker has taken yet. Waits for Redis without limit while it is away. */
  countWaiting(): Promise<number>;
  /**
   * Takes no more jobs, waits for those under way, aborts them after `graceMs` (default 10,000), disconnects. Never rejects.
   */
  close(graceMs?: number): Promise<void>;
}

/**
 * Starts to take jobs from a queue. A Redis that is away, restarted or emptied only delays: the worker connects again by
 * itself, and when Redis does not answer within 3 s of the start it begins later, once it does.
 * @throws {RedisEvictsError} when Redis answers in that time and may throw jobs away; later it is reported instead
 */
export async function createQueueWorker(options: QueueWorkerOptions): Promise<QueueWorker> {
  const report = reportOnce(options.onError);
  const client = connect(options.redisUrl, report);
  let worker: Worker<JobData> | undefined;
  let queue: Queue | undefined;
  let isClosing = false;

  const starting = requireNoEviction(client).then(() => {
    if (isClosing) return;
    worker = openWorker(options, client, report);
    worker.run().catch(report);
  });
  const patience = new AbortController();
  const patienceOver = delay(START_WAIT_MS, undefined, { signal: patience.signal }).catch(() => undefined);
  try {
    await Promise.race([starting, patienceOver]);
  } catch (error) {
    client.disconnect();
    throw error;
  } finally {
    patience.abort();
  }
  starting.catch((error: unknown) => {
    if (isClosing) return;
    isClosing = true;
    client.disconnect();
    report(error);
  });

  return {
    isConnected: () => !isClosing && client.status === "ready",
    async countWaiting() {
      queue ??= openQueue(options, client, report);
      return queue.getWaitingCount();
    },
    async close(graceMs = 10_000) {
      if (isClosing) return;
      isClosing = true;
      const closed = worker?.close().catch(report) ?? Promise.resolve();
      if (!(await endsWithin(closed, graceMs))) {
        worker?.cancelAllJobs("the worker is closing");
        await endsWithin(closed, ABORT_WAIT_MS);
      }
      client.disconnect();
    },
  };
}

function openWorker(options: QueueWorkerOptions, connection: Redis, report: OnError): Worker<JobData> {
  const { prefix = DEFAULT_PREFIX, queue, concurrency, handle } = options;
  const worker = new Worker<JobData>(
    queue,
    async (job, _token, signal = new AbortController().signal) => {
      const data = JobDataSchema.safeParse(job.data);
      if (!data.success) throw new UnrecoverableError(`The job ${job.id ?? ""} carries no id`);
      await handle(data.data.id, signal);
    },
    {
      connection,
      prefix,
      concurrency,
      autorun: false,
      maxStalledCount: NO_STALLED_LIMIT,
      removeOnComplete: { count: 0 },
      removeOnFail: { count: 0 },
    },
  );
  worker.on("error", report);
  worker.on("failed", (job, error) => report(error, idOf(job?.data)));
  return worker;
}

/** Nothing for a job that is none of ours. */
function idOf(data: unknown): string | undefined {
  return JobDataSchema.safeParse(data).data?.id;
}

/** Looks at the queue over the worker's connection, which is the worker's to close. */
function openQueue(
  { queue: name, prefix = DEFAULT_PREFIX }: QueueWorkerOptions,
  connection: Redis,
  report: OnError,
): Queue {
  const queue = new Queue(name, { connection, prefix, skipMetasUpdate: true });
  queue.on("error", report);
  return queue;
}

async function endsWithin(work: Promise<unknown>, timeoutMs: number): Promise<boolean> {
  const timer = new AbortController();
  const timeout = delay(timeoutMs, false, { signal: timer.signal }).catch(() => false);
  return Promise.race([work.then(() => true), timeout]).finally(() => timer.abort());
}
