import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type LocalServer, startRedis } from "@planwright/local";
import { testServers } from "@planwright/testing";
import { Redis } from "ioredis";
import { expect, onTestFinished, test } from "vitest";
import { createQueues, createQueueWorker, type QueueWorkerOptions, RedisEvictsError } from "../src/index.ts";

/** A Redis server for one test, which may stop, freeze and empty it. */
async function ownRedis(): Promise<LocalServer> {
  const dataDir = mkdtempSync(join(tmpdir(), "planwright-queue-"));
  const { REDIS_URL: _, ...env } = process.env;
  const redis = await startRedis({ dataDir, env });
  onTestFinished(async () => {
    await redis.kill();
    rmSync(dataDir, { recursive: true, force: true });
  });
  return redis;
}

function queuesAt(redisUrl: string, prefix = "test", maxPending?: number) {
  const errors: unknown[] = [];
  const queues = createQueues({
    redisUrl,
    prefix,
    onError: (error) => void errors.push(error),
    ...(maxPending !== undefined && { maxPending }),
  });
  onTestFinished(() => queues.close());
  return { queues, errors };
}

async function workerAt(redisUrl: string, options: Partial<QueueWorkerOptions> = {}) {
  const handled: string[] = [];
  const errors: unknown[] = [];
  const worker = await createQueueWorker({
    redisUrl,
    prefix: "test",
    queue: "execution",
    concurrency: 4,
    handle: async (id) => void handled.push(id),
    onError: (error) => void errors.push(error),
    ...options,
  });
  onTestFinished(() => worker.close(0));
  return { worker, handled, errors };
}

test("an offered plan reaches a worker of the execution queue, and a request a worker of the planning queue", async () => {
  const { redisUrl, redisPrefix: prefix } = testServers();
  const { queues } = queuesAt(redisUrl, prefix);
  const execution = await workerAt(redisUrl, { prefix });
  const planning = await workerAt(redisUrl, { prefix, queue: "planning" });
  queues.offerExecution("plan_1", 1);
  queues.offerPlanning("req_1");
  await expect.poll(() => [execution.handled, planning.handled]).toEqual([["plan_1"], ["req_1"]]);
});

test("the same plan and epoch are queued once, a new epoch again, and no job is left in Redis after the work", async () => {
  const { redisUrl, redisPrefix: prefix } = testServers();
  const { queues } = queuesAt(redisUrl, prefix);
  queues.offerExecution("plan_1", 1);
  queues.offerExecution("plan_1", 1);
  queues.offerExecution("plan_1", 2);
  await queues.close();
  const { handled } = await workerAt(redisUrl, { prefix });
  await expect.poll(() => handled).toEqual(["plan_1", "plan_1"]);
  const client = new Redis(redisUrl);
  onTestFinished(() => client.disconnect());
  await expect.poll(() => client.keys(`${prefix}:execution:plan_*`)).toEqual([]);
});

test("a handler that fails is reported with its id, its job is removed, and the same offer can be made again", async () => {
  const { redisUrl, redisPrefix: prefix } = testServers();
  const { queues } = queuesAt(redisUrl, prefix);
  let calls = 0;
  const reports: string[] = [];
  await workerAt(redisUrl, {
    prefix,
    handle: async () => {
      calls += 1;
      throw new TypeError(`no claim ${calls}`);
    },
    onError: (error, id) => void reports.push(`${id}: ${String(error)}`),
  });
  queues.offerExecution("plan_1", 1);
  await expect.poll(() => reports).toEqual(["plan_1: TypeError: no claim 1"]);
  const offeredAgain = () => {
    queues.offerExecution("plan_1", 1);
    return calls;
  };
  await expect.poll(offeredAgain).toBeGreaterThan(1);
});

test("a worker refuses to start on a Redis that may evict jobs", async () => {
  const redis = await ownRedis();
  const client = new Redis(redis.url);
  onTestFinished(() => client.disconnect());
  await client.config("SET", "maxmemory-policy", "allkeys-lru");
  await expect(workerAt(redis.url)).rejects.toThrow(RedisEvictsError);
});

test("after FLUSHALL during a job the job ends, and later offers are handled", async () => {
  const redis = await ownRedis();
  const { queues } = queuesAt(redis.url);
  const ended: string[] = [];
  let finish: () => void = () => undefined;
  const running = new Promise<void>((resolve) => (finish = resolve));
  let isStarted = false;
  await workerAt(redis.url, {
    handle: async (id) => {
      isStarted = true;
      if (id === "plan_1") await running;
      ended.push(id);
    },
  });
  queues.offerExecution("plan_1", 1);
  await expect.poll(() => isStarted).toBe(true);
  const client = new Redis(redis.url);
  await client.flushall();
  client.disconnect();
  finish();
  await expect.poll(() => ended).toEqual(["plan_1"]);
  queues.offerExecution("plan_2", 1);
  await expect.poll(() => ended).toEqual(["plan_1", "plan_2"]);
});

test("offers made while Redis is away reach the same worker when it is back", async () => {
  const redis = await ownRedis();
  const { queues, errors } = queuesAt(redis.url);
  const { handled } = await workerAt(redis.url);
  queues.offerExecution("plan_1", 1);
  await expect.poll(() => handled).toEqual(["plan_1"]);
  await redis.kill();
  await expect.poll(() => errors).not.toEqual([]);
  queues.offerExecution("plan_2", 1);
  await redis.restart();
  await expect.poll(() => handled).toEqual(["plan_1", "plan_2"]);
});

test("offers to a frozen Redis neither throw nor wait, and are handled once it continues", async () => {
  const redis = await ownRedis();
  const { queues } = queuesAt(redis.url);
  const { handled } = await workerAt(redis.url);
  queues.offerExecution("plan_1", 1);
  await expect.poll(() => handled).toEqual(["plan_1"]);
  process.kill(redis.pid()!, "SIGSTOP");
  onTestFinished(() => void (redis.pid() && process.kill(redis.pid()!, "SIGCONT")));
  for (let epoch = 1; epoch <= 100; epoch += 1) queues.offerExecution("plan_2", epoch);
  process.kill(redis.pid()!, "SIGCONT");
  await expect.poll(() => handled).toHaveLength(101);
});

test("hints beyond the limit are dropped and reported while Redis is away", async () => {
  const redis = await ownRedis();
  await redis.kill();
  const { queues, errors } = queuesAt(redis.url, "test", 2);
  for (let epoch = 1; epoch <= 5; epoch += 1) queues.offerExecution("plan_1", epoch);
  expect(errors.map(String)).toContainEqual(expect.stringContaining("OfferDroppedError"));
});

test("a worker that starts while Redis is away begins when Redis is available", async () => {
  const redis = await ownRedis();
  await redis.kill();
  const { queues } = queuesAt(redis.url);
  const { worker, handled } = await workerAt(redis.url);
  expect(worker.isConnected()).toBe(false);
  queues.offerExecution("plan_1", 1);
  await redis.restart();
  await expect.poll(() => handled).toEqual(["plan_1"]);
});

test("a worker counts the jobs that no worker has taken", async () => {
  const { redisUrl, redisPrefix: prefix } = testServers();
  const { queues } = queuesAt(redisUrl, prefix);
  let finish = (): void => undefined;
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const { worker } = await workerAt(redisUrl, { prefix, concurrency: 1, handle: () => finished });
  for (let epoch = 1; epoch <= 4; epoch += 1) queues.offerExecution("plan_1", epoch);
  await expect.poll(() => worker.countWaiting()).toBe(3);
  finish();
  await expect.poll(() => worker.countWaiting()).toBe(0);
});

test("close waits for the work in progress and then aborts it", async () => {
  const { redisUrl, redisPrefix: prefix } = testServers();
  const { queues } = queuesAt(redisUrl, prefix);
  let isStarted = false;
  const { worker } = await workerAt(redisUrl, {
    prefix,
    handle: (_id, signal) =>
      new Promise((_resolve, reject) => {
        isStarted = true;
        signal.addEventListener("abort", () => reject(new TypeError("aborted")));
      }),
  });
  queues.offerExecution("plan_1", 1);
  await expect.poll(() => isStarted).toBe(true);
  await worker.close(10);
  expect(worker.isConnected()).toBe(false);
});
