import { setTimeout as delay } from "node:timers/promises";
import { Queue, UnrecoverableError, Worker } from "bullmq";
import type { Redis } from "ioredis";
import { connect, DEFAULT_PREFIX, requireNoEviction } from "../redis/connection.ts";
import { type OnError, reportOnce } from "../redis/report-once.ts";
import { type JobData, JobDataSchema, type QueueName } from "./job.ts";

/** How long the start waits for a Redis that does not answer, in milliseconds. */
const START_WAIT_MS = 3_000;
const ABORT_WAIT_MS = 2_000;
/** So high that it never applies: MongoDB counts claims, so the number of stalls does not matter. */
const NO_STALLED_LIMIT = 1_000_000;

/** Settings of {@link createQueueWorker}. */
export interface QueueWorkerOptions {
  redisUrl: string;
  /** Prefix of every key in Redis, the same as in `createQueues`; default "planwright". */
  prefix?: string;
  queue: QueueName;
  /** Maximum number of jobs in progress, from 1. */
  concurrency: number;
  /**
   * Looks at one request or plan. A job is a hint and may come twice or late: MongoDB decides whether there
   * is work. A rejection is reported and the job is removed; the sweeper finds the work again. `signal` is
   * aborted when the worker closes and its grace period has ended.
   */
  handle: (id: string, signal: AbortSignal) => Promise<void>;
  /** Called for errors, the same message once in 10 s. */
  onError: OnError;
}

/** A worker that takes jobs. */
export interface QueueWorker {
  /** True while Redis answers and jobs are taken. */
  isConnected(): boolean;
  /** Number of jobs that no worker has taken. Waits without limit while Redis does not answer. */
  countWaiting(): Promise<number>;
  /**
   * Takes no more jobs, waits for the jobs in progress, aborts them after `graceMs` (default 10,000), and
   * disconnects. Never rejects.
   */
  close(graceMs?: number): Promise<void>;
}

/**
 * Starts to take jobs from a queue. A Redis that is unreachable, restarted or emptied only causes delay: the
 * worker reconnects. When Redis does not answer within 3 s of the start, the worker begins as soon as it
 * does.
 * @throws {RedisEvictsError} when Redis answers in that time and may evict jobs; later it is reported instead
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
  const startTimeout = new AbortController();
  const timeoutPassed = delay(START_WAIT_MS, undefined, { signal: startTimeout.signal }).catch(
    () => undefined,
  );
  try {
    await Promise.race([starting, timeoutPassed]);
  } catch (error) {
    client.disconnect();
    throw error;
  } finally {
    startTimeout.abort();
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

/** Undefined for a job whose data is not of our form. */
function idOf(data: unknown): string | undefined {
  return JobDataSchema.safeParse(data).data?.id;
}

/** A queue over the worker's connection, which the worker closes. */
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
