import { UnrecoverableError, Worker } from "bullmq";
import { Redis } from "ioredis";
import { RedisEvictsError } from "./errors.ts";
import { type JobData, JobDataSchema } from "./job.ts";
import { DEFAULT_PREFIX, type QueueName } from "./names.ts";

/** Settings of {@link createQueueWorker}. */
export interface QueueWorkerOptions {
  redisUrl: string;
  /** Prefix of all keys in Redis. Default "planwright". */
  prefix?: string | undefined;
  queue: QueueName;
  /** Jobs handled at once. */
  concurrency: number;
  /** Looks at what the job speaks of. Whatever it throws ends the job; the sweeper is the one who tries again. */
  handle: (id: string, signal: AbortSignal) => Promise<void>;
  onError: (error: Error) => void;
}

/** Takes jobs as they come. */
export interface QueueWorker {
  /** Takes no more jobs and lets go of the ones under way: their work is in MongoDB. */
  close(): Promise<void>;
}

/** How long a job may be silent before another worker gets it, in milliseconds. */
const LOCK_MS = 30_000;
/** How long the first answer of Redis is waited for, in milliseconds. */
const CONNECT_TIMEOUT_MS = 10_000;

/**
 * Starts a worker. A Redis that is away only delays: the worker connects by itself when it is back.
 * @throws {RedisEvictsError} if Redis may evict keys
 */
export async function createQueueWorker(options: QueueWorkerOptions): Promise<QueueWorker> {
  const { redisUrl, prefix = DEFAULT_PREFIX, queue, concurrency, handle, onError } = options;
  const connection = new Redis(redisUrl, {
    maxRetriesPerRequest: null,
    retryStrategy: (tries) => Math.min(tries * 100, 2_000),
  });
  connection.on("error", onError);
  try {
    await refuseEviction(redisUrl, onError);
  } catch (error) {
    connection.disconnect();
    throw error;
  }
  const worker = new Worker<JobData>(
    queue,
    async (job, _token, signal) => {
      const data = JobDataSchema.safeParse(job.data);
      if (!data.success) throw new UnrecoverableError(`The job ${job.id ?? ""} carries no id`);
      await handle(data.data.id, signal ?? new AbortController().signal);
    },
    {
      connection,
      prefix,
      concurrency,
      lockDuration: LOCK_MS,
      stalledInterval: LOCK_MS,
      // Jobs are hints: one that was dropped is found by the sweeper, one that comes twice finds nothing to claim.
      maxStalledCount: 1_000,
      skipVersionCheck: true,
    },
  );
  worker.on("error", onError);
  worker.on("failed", (_job, error) => onError(error));
  return {
    async close() {
      await worker.close(true);
      connection.disconnect();
    },
  };
}

/** Asks Redis for its policy. One that does not answer now is asked no further: it is away, not wrong. */
async function refuseEviction(redisUrl: string, onError: (error: Error) => void): Promise<void> {
  const asking = new Redis(redisUrl, {
    lazyConnect: true,
    maxRetriesPerRequest: 1,
    connectTimeout: CONNECT_TIMEOUT_MS,
    commandTimeout: CONNECT_TIMEOUT_MS,
    retryStrategy: () => null,
  });
  asking.on("error", onError);
  try {
    const info = await asking.info("memory");
    const policy = /^maxmemory_policy:(\S+)/m.exec(info)?.[1];
    if (policy !== undefined && policy !== "noeviction") throw new RedisEvictsError({ policy });
  } catch (error) {
    if (error instanceof RedisEvictsError) throw error;
    onError(error instanceof Error ? error : new RedisEvictsError({ policy: String(error) }));
  } finally {
    asking.disconnect();
  }
}
