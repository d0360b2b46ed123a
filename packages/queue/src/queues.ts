import type { PlanId, RequestId } from "@planwright/plan";
import { Queue } from "bullmq";
import { Redis } from "ioredis";
import { OfferFailedError } from "./errors.ts";
import type { JobData } from "./job.ts";
import { DEFAULT_PREFIX, type QueueName } from "./names.ts";

/** Settings of {@link createQueues}. */
export interface QueuesOptions {
  redisUrl: string;
  /** Prefix of all keys in Redis. Default "planwright". */
  prefix?: string | undefined;
  /** Told of offers that Redis did not take and of connection troubles; nothing is lost by them. */
  onError?: ((error: Error) => void) | undefined;
}

/** Offers work to whoever has time. An offer never throws and never waits: MongoDB already holds the work. */
export interface Queues {
  offerPlanning(requestId: RequestId): void;
  /** @param epoch - of the plan now: one job an epoch, however often it is offered */
  offerExecution(planId: PlanId, epoch: number): void;
  close(): Promise<void>;
}

/** Offers under way at most; more are dropped at once, since Redis is away. */
const MAX_PENDING_OFFERS = 10_000;

/** Producers of both queues over one connection that gives up quickly. */
export function createQueues({
  redisUrl,
  prefix = DEFAULT_PREFIX,
  onError = () => {},
}: QueuesOptions): Queues {
  const connection = new Redis(redisUrl, {
    maxRetriesPerRequest: 1,
    connectTimeout: 2_000,
    commandTimeout: 5_000,
    retryStrategy: (tries) => Math.min(tries * 100, 2_000),
  });
  connection.on("error", onError);
  const open = (name: QueueName): Queue<JobData> => {
    const queue = new Queue<JobData>(name, { connection, prefix, skipVersionCheck: true });
    queue.on("error", onError);
    return queue;
  };
  const planning = open("planning");
  const execution = open("execution");
  const pending = new Set<Promise<unknown>>();

  function offer(queue: Queue<JobData>, id: string, jobId: string): void {
    if (pending.size >= MAX_PENDING_OFFERS) return;
    const offered = queue
      .add("look", { id }, { jobId, removeOnComplete: true, removeOnFail: true })
      .catch((error: unknown) => onError(new OfferFailedError({ queue: queue.name, id }, error)))
      .finally(() => pending.delete(offered));
    pending.add(offered);
  }

  return {
    offerPlanning: (requestId) => offer(planning, requestId, requestId),
    offerExecution: (planId, epoch) => offer(execution, planId, `${planId}-${epoch}`),
    async close() {
      let timer: NodeJS.Timeout | undefined;
      const patience = new Promise((resolve) => {
        timer = setTimeout(resolve, 1_000);
      });
      await Promise.race([Promise.allSettled(pending), patience]);
      clearTimeout(timer);
      await Promise.allSettled([planning.close(), execution.close()]);
      connection.disconnect();
    },
  };
}
