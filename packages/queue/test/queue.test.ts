import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type LocalServer, startRedis } from "@planwright/local";
import { testServers } from "@planwright/testing";
import { Redis } from "ioredis";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  createFairQueue,
  createLocalFairQueue,
  createLocalFirstQueues,
  createLocalQueues,
  createQueues,
  createSlots,
  type FairQueue,
  type Hint,
  type Queues,
  RedisEvictsError,
  type SlotsParts,
  type WorkerOptions,
} from "../src/index.ts";

const plan = (_id: string, more: Partial<Hint> = {}): Hint => ({ _id, tenant: "t1", ...more });
const slotsOf = (parts: Partial<SlotsParts> = {}) => createSlots({ max: 4, isShared: () => true, ...parts });

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

async function workerOf(queues: Queues, options: Partial<WorkerOptions> = {}) {
  const handled: string[] = [];
  const errors: unknown[] = [];
  const worker = await queues.startWorker({
    queue: "execution",
    slots: slotsOf({ isShared: () => false }),
    handle: async (id) => void handled.push(id),
    onError: (error) => void errors.push(error),
    ...options,
  });
  onTestFinished(() => worker.close(0));
  return { worker, handled, errors };
}

const workerAt = (redisUrl: string) => workerOf(queuesAt(redisUrl).queues);

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
  await workerOf(queues, {
    handle: async (id) => {
      isStarted = true;
      if (id === "plan_1") await running;
      ended.push(id);
    },
  });
  queues.offerExecution(plan("plan_1"));
  await expect.poll(() => isStarted).toBe(true);
  const client = new Redis(redis.url);
  await client.flushall();
  client.disconnect();
  finish();
  await expect.poll(() => ended).toEqual(["plan_1"]);
  queues.offerExecution(plan("plan_2"));
  await expect.poll(() => ended).toEqual(["plan_1", "plan_2"]);
});

test("offers made while Redis is away reach the same worker when it is back", async () => {
  const redis = await ownRedis();
  const { queues, errors } = queuesAt(redis.url);
  const { handled } = await workerAt(redis.url);
  queues.offerExecution(plan("plan_1"));
  await expect.poll(() => handled).toEqual(["plan_1"]);
  await redis.kill();
  await expect.poll(() => errors).not.toEqual([]);
  queues.offerExecution(plan("plan_2"));
  await redis.restart();
  // A Redis that was killed may have forgotten that it gave a hint away, and gives it again.
  await expect.poll(() => [...new Set(handled)]).toEqual(["plan_1", "plan_2"]);
});

test("offers to a frozen Redis neither throw nor wait, and are handled once it continues", async () => {
  const redis = await ownRedis();
  const { queues } = queuesAt(redis.url);
  const { handled } = await workerAt(redis.url);
  queues.offerExecution(plan("plan_1"));
  await expect.poll(() => handled).toEqual(["plan_1"]);
  process.kill(redis.pid()!, "SIGSTOP");
  onTestFinished(() => void (redis.pid() && process.kill(redis.pid()!, "SIGCONT")));
  for (let index = 1; index <= 100; index += 1) queues.offerExecution(plan(`plan_2_${index}`));
  process.kill(redis.pid()!, "SIGCONT");
  await expect.poll(() => handled).toHaveLength(101);
});

test("hints beyond the limit are dropped and reported while Redis is away", async () => {
  const redis = await ownRedis();
  await redis.kill();
  const { queues, errors } = queuesAt(redis.url, "test", 2);
  for (let index = 1; index <= 5; index += 1) queues.offerExecution(plan(`plan_${index}`));
  expect(errors.map(String)).toContainEqual(expect.stringContaining("OfferDroppedError"));
});

test("close waits for the work in progress and not for a Redis that is away", async () => {
  const redis = await ownRedis();
  const { queues, errors } = queuesAt(redis.url);
  let finish: () => void = () => undefined;
  let isStarted = false;
  const { worker } = await workerOf(queues, {
    handle: () => {
      isStarted = true;
      return new Promise((resolve) => (finish = resolve));
    },
  });
  queues.offerExecution(plan("plan_1"));
  await expect.poll(() => isStarted).toBe(true);
  await redis.kill();
  await expect.poll(() => errors).not.toEqual([]);
  const startedAt = performance.now();
  let isClosed = false;
  const closed = worker.close().then(() => (isClosed = true));
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(isClosed).toBe(false);
  finish();
  await closed;
  expect(performance.now() - startedAt).toBeLessThan(8_000);
});

test.each<["killed" | "frozen"]>([["killed"], ["frozen"]])(
  "other work may begin while Redis is %s, after work from its hints has ended",
  async (fault) => {
    const redis = await ownRedis();
    const { queues } = queuesAt(redis.url);
    const slots = slotsOf({ max: 40, maxBeginning: 2 });
    const running: (() => void)[] = [];
    const { handled } = await workerOf(queues, {
      slots,
      handle: (id, _tenant, begun) => {
        handled.push(id);
        begun();
        return new Promise((resolve) => running.push(resolve));
      },
    });
    for (let index = 0; index < 8; index += 1)
      queues.offerExecution(plan(`plan_${index}`, { tenant: `t${index}` }));
    await expect.poll(() => handled).toHaveLength(8);
    if (fault === "killed") await redis.kill();
    else process.kill(redis.pid()!, "SIGSTOP");
    onTestFinished(() => void (redis.pid() && process.kill(redis.pid()!, "SIGCONT")));
    for (const end of running) end();
    // As a sweeper does, for what it finds in MongoDB.
    for (let index = 0; index < 10; index += 1) (await slots.enter())();
    if (fault === "killed") await redis.restart();
    else process.kill(redis.pid()!, "SIGCONT");
    queues.offerExecution(plan("plan_later"));
    await expect.poll(() => handled).toContain("plan_later");
  },
);

test("a worker that starts while Redis is away begins when Redis is available", async () => {
  const redis = await ownRedis();
  await redis.kill();
  const { queues } = queuesAt(redis.url);
  const { worker, handled } = await workerAt(redis.url);
  expect(worker.isConnected()).toBe(false);
  queues.offerExecution(plan("plan_1"));
  await redis.restart();
  await expect.poll(() => handled).toEqual(["plan_1"]);
});

const many = (tenant: string, count: number, more: Partial<Hint> = {}) =>
  Array.from({ length: count }, (_, index) => plan(`${tenant}${index}`, { tenant, ...more }));

const inRedis = (): Queues => {
  const { redisUrl, redisPrefix } = testServers();
  return queuesAt(redisUrl, redisPrefix).queues;
};

describe.each<[string, () => Queues]>([
  ["in Redis", inRedis],
  ["in memory", () => createLocalQueues()],
  ["in this process first, then in Redis", () => createLocalFirstQueues(inRedis())],
])("hints %s", (_place, open) => {
  test("an offered plan reaches a worker of the execution queue, and a request a worker of the planning queue", async () => {
    const queues = open();
    const execution = await workerOf(queues);
    const planning = await workerOf(queues, { queue: "planning" });
    queues.offerExecution(plan("plan_1"));
    queues.offerPlanning(plan("req_1"));
    await expect.poll(() => [execution.handled, planning.handled]).toEqual([["plan_1"], ["req_1"]]);
  });

  test("a plan is queued once until it is taken, and can be offered again; no hint is left in Redis", async () => {
    const queues = open();
    queues.offerExecution(plan("plan_1"));
    queues.offerExecution(plan("plan_1"));
    const { worker, handled } = await workerOf(queues);
    await expect.poll(() => handled).toEqual(["plan_1"]);
    queues.offerExecution(plan("plan_1"));
    await expect.poll(() => handled).toEqual(["plan_1", "plan_1"]);
    expect(await worker.countWaiting()).toBe(0);
  });

  test("a handler that fails is reported with its id, its job is removed, and the same offer can be made again", async () => {
    const queues = open();
    let calls = 0;
    const reports: string[] = [];
    await workerOf(queues, {
      handle: async () => {
        calls += 1;
        throw new TypeError(`no claim ${calls}`);
      },
      onError: (error, id) => void reports.push(`${id}: ${String(error)}`),
    });
    queues.offerExecution(plan("plan_1"));
    await expect.poll(() => reports).toEqual(["plan_1: TypeError: no claim 1"]);
    const offeredAgain = () => {
      queues.offerExecution(plan("plan_1"));
      return calls;
    };
    await expect.poll(offeredAgain).toBeGreaterThan(1);
  });

  test("a worker counts the jobs that no worker has taken", async () => {
    const queues = open();
    let finish = (): void => undefined;
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const { worker } = await workerOf(queues, { slots: slotsOf({ max: 1 }), handle: () => finished });
    for (let index = 1; index <= 4; index += 1) queues.offerExecution(plan(`plan_${index}`));
    await expect.poll(() => worker.countWaiting()).toBe(3);
    finish();
    await expect.poll(() => worker.countWaiting()).toBe(0);
  });

  test("close waits for the work in progress, at most for its grace period", async () => {
    const queues = open();
    const ends: (() => void)[] = [];
    const { worker } = await workerOf(queues, {
      handle: () => new Promise<void>((resolve) => void ends.push(resolve)),
    });
    queues.offerExecution(plan("plan_1"));
    await expect.poll(() => ends.length).toBe(1);
    let isClosed = false;
    const closed = worker.close(60_000).then(() => {
      isClosed = true;
    });
    queues.offerExecution(plan("plan_2"));
    expect([isClosed, ends.length]).toEqual([false, 1]);
    for (const end of ends) end();
    await closed;
    expect(worker.isConnected()).toBe(false);
    const { worker: stuck } = await workerOf(queues, { handle: () => new Promise(() => undefined) });
    await expect.poll(() => stuck.countWaiting()).toBe(0);
    await stuck.close(10);
    expect(stuck.isConnected()).toBe(false);
  });

  /** Hints that wait before a worker with one slot takes them, and the order in which it does. */
  async function orderOf(hints: readonly Hint[], weights: Record<string, number> = {}): Promise<string[]> {
    const queues = open();
    const first = await workerOf(queues, { slots: slotsOf({ capacity: () => 0 }) });
    await first.worker.setWeights(new Map(Object.entries(weights)));
    for (const hint of hints) queues.offerExecution(hint);
    await expect.poll(() => first.worker.countWaiting()).toBe(hints.length);
    const { handled } = await workerOf(queues, { slots: slotsOf({ max: 1 }) });
    await expect.poll(() => handled).toHaveLength(hints.length);
    return handled;
  }

  test.each<[string, Hint[], Record<string, number>, string[]]>([
    [
      "tenants take turns, however long their lines are",
      [...many("a", 4), ...many("b", 2)],
      {},
      ["a0", "b0", "a1", "b1", "a2", "a3"],
    ],
    [
      "a tenant of weight 2 gets two turns for one of another",
      [...many("a", 4), ...many("b", 4)],
      { b: 2 },
      ["a0", "b0", "b1", "a1", "b2", "b3", "a2", "a3"],
    ],
    [
      "within a tenant a high priority comes before a normal one, and a low one after it",
      [
        ...many("a", 1, { priority: "low" }),
        plan("n", { tenant: "a" }),
        plan("h", { tenant: "a", priority: "high" }),
      ],
      {},
      ["h", "n", "a0"],
    ],
    [
      "a high priority does not take the turn of another tenant",
      [...many("a", 3, { priority: "high" }), ...many("b", 2, { priority: "low" })],
      {},
      ["a0", "b0", "a1", "b1", "a2"],
    ],
  ])("%s", async (_, hints, weights, expected) => {
    expect(await orderOf(hints, weights)).toEqual(expected);
  });

  test("hints of a tenant that has its share of the slots are passed over and stay in the queue", async () => {
    const queues = open();
    const handled: string[] = [];
    const ends: (() => void)[] = [];
    const { worker } = await workerOf(queues, {
      slots: slotsOf(),
      handle: (id) => {
        handled.push(id);
        return new Promise<void>((resolve) => void ends.push(resolve));
      },
    });
    for (const hint of many("a", 10)) queues.offerExecution(hint);
    await expect.poll(() => handled).toEqual(["a0", "a1", "a2"]);
    queues.offerExecution(plan("b0", { tenant: "b" }));
    await expect.poll(() => handled).toEqual(["a0", "a1", "a2", "b0"]);
    // An offer does not wait until Redis has the hint.
    await expect.poll(() => worker.countWaiting()).toBe(7);
    for (const end of ends) end();
    await expect.poll(() => handled).toHaveLength(7);
  });

  test("a newcomer's hint is taken when the few that are in their beginning have begun, before all others", async () => {
    const queues = open();
    const handled: string[] = [];
    const begins: (() => void)[] = [];
    const { worker } = await workerOf(queues, {
      slots: slotsOf({ max: 16, maxBeginning: 2 }),
      handle: (id, _tenant, begun) => {
        handled.push(id);
        begins.push(begun);
        return new Promise(() => undefined);
      },
    });
    for (const hint of many("a", 20)) queues.offerExecution(hint);
    await expect.poll(() => handled).toEqual(["a0", "a1"]);
    queues.offerExecution(plan("b0", { tenant: "b" }));
    await expect.poll(() => worker.countWaiting()).toBe(19);
    for (const begun of begins) begun();
    await expect.poll(() => handled).toHaveLength(4);
    expect(handled).toContain("b0");
  });
});

test.each<[string, () => FairQueue]>([
  [
    "in Redis",
    () => {
      const { redisUrl, redisPrefix } = testServers();
      const client = new Redis(redisUrl);
      onTestFinished(() => client.disconnect());
      return createFairQueue(client, redisPrefix, "execution");
    },
  ],
  ["in memory", createLocalFairQueue],
])(
  "a tenant that was passed over %s takes the one turn that it missed, however often it was passed over",
  async (_, open) => {
    const queue = open();
    for (const tenant of ["a", "b", "c"])
      for (let place = 0; place < 10; place += 1)
        await queue.push({ id: `${tenant}${place}`, tenant, place });
    const taken: (string | undefined)[] = [];
    const take = async (count: number, full: string[] = []) => {
      for (let index = 0; index < count; index += 1) taken.push((await queue.take(full))?.tenant);
    };
    await take(6, ["a"]);
    await take(5);
    expect(taken.join("")).toBe("bcbcbcaaabc");
  },
);

test("a hint goes to the worker of the process while that has room, and to Redis when it has none", async () => {
  const { redisUrl, redisPrefix: prefix } = testServers();
  const { queues: others } = queuesAt(redisUrl, prefix);
  const queues = createLocalFirstQueues(others);
  const ends: (() => void)[] = [];
  const here: string[] = [];
  const { worker } = await workerOf(queues, {
    slots: slotsOf({ max: 1 }),
    handle: (id) => {
      here.push(id);
      return new Promise<void>((resolve) => void ends.push(resolve));
    },
  });
  queues.offerExecution(plan("plan_1"));
  queues.offerExecution(plan("plan_2"));
  await expect.poll(() => here).toEqual(["plan_1"]);
  await expect.poll(() => worker.countWaiting()).toBe(1);
  const { handled } = await workerOf(queuesAt(redisUrl, prefix).queues);
  await expect.poll(() => handled).toEqual(["plan_2"]);
  for (const end of ends) end();
  // No command of Redis is needed while there is room, so one that is away does not matter.
  const away = createLocalFirstQueues(queuesAt("redis://127.0.0.1:1").queues);
  const { handled: alone } = await workerOf(away);
  away.offerExecution(plan("plan_3"));
  await expect.poll(() => alone).toEqual(["plan_3"]);
});

test("a hint that did not fit is taken when work of the process ends, although its job is gone", async () => {
  const { redisUrl, redisPrefix: prefix } = testServers();
  const queues = createLocalFirstQueues(queuesAt(redisUrl, prefix).queues);
  const ends = new Map<string, () => void>();
  const { worker } = await workerOf(queues, {
    slots: slotsOf(),
    handle: (id) => new Promise<void>((resolve) => void ends.set(id, resolve)),
  });
  for (const hint of many("a", 5)) queues.offerExecution(hint);
  await expect.poll(() => worker.countWaiting()).toBe(2);
  ends.get("a0")?.();
  await expect.poll(() => worker.countWaiting()).toBe(1);
  expect([...ends.keys()]).toEqual(["a0", "a1", "a2", "a3"]);
});

test.each([
  ["in memory", () => createLocalQueues()],
  ["in this process first", () => createLocalFirstQueues(inRedis())],
])("a place %s is held until its work has ended, or until it is left", async (_queues, open) => {
  const queues = open();
  expect(queues.reserveExecution(plan("plan_0"))).toBeNull();
  const ends = new Map<string, () => void>();
  const left: string[] = [];
  const slots = slotsOf({ max: 2, isShared: () => false });
  await workerOf(queues, {
    slots,
    handle: (id) => new Promise<void>((resolve) => void ends.set(id, resolve)),
    reserve: (id) => (id === "refused" ? null : { owner: `owner of ${id}`, leave: () => void left.push(id) }),
  });
  // Until the worker has seen that no hint waits, it has no place.
  queues.offerExecution(plan("plan_0"));
  await expect.poll(() => [...ends.keys()]).toEqual(["plan_0"]);
  ends.get("plan_0")?.();
  ends.clear();
  const freed = () => {
    const place = queues.reserveExecution(plan("plan_0"));
    place?.leave();
    return place;
  };
  await expect.poll(freed).not.toBeNull();
  left.length = 0;
  expect(queues.reserveExecution(plan("refused"))).toBeNull();
  const [one, two] = [queues.reserveExecution(plan("plan_1")), queues.reserveExecution(plan("plan_2"))];
  expect([one?.owner, two?.owner, slots.free()]).toEqual(["owner of plan_1", "owner of plan_2", 0]);
  expect(queues.reserveExecution(plan("plan_3"))).toBeNull();
  one?.begin();
  two?.leave();
  await expect.poll(() => [...ends.keys()]).toEqual(["plan_1"]);
  expect([left, slots.free()]).toEqual([["plan_2"], 1]);
  ends.get("plan_1")?.();
  await expect.poll(() => slots.free()).toBe(2);
  expect(left).toEqual(["plan_2", "plan_1"]);
});

test("in memory a hint that found no slot begins as soon as one is free, and before plans that come later", async () => {
  const queues = createLocalQueues();
  const ends: (() => void)[] = [];
  const handled: string[] = [];
  const slots = slotsOf({ max: 3, isShared: () => false });
  await workerOf(queues, {
    slots,
    handle(id, _tenant, begun) {
      handled.push(id);
      begun();
      return new Promise<void>((resolve) => void ends.push(resolve));
    },
    reserve: () => ({ owner: "this process", leave: () => undefined }),
  });
  for (const id of ["placed_1", "placed_2", "placed_3"]) queues.reserveExecution(plan(id))?.begin();
  for (const id of ["hint_1", "hint_2", "hint_3"]) queues.offerExecution(plan(id));
  const turn = () => new Promise((resolve) => void setImmediate(resolve));
  await turn();
  for (const end of ends.splice(0)) end();
  // No place for newcomers, although three slots are about to be free.
  expect(queues.reserveExecution(plan("late"))).toBeNull();
  await turn();
  expect(handled).toEqual(["placed_1", "placed_2", "placed_3", "hint_1", "hint_2", "hint_3"]);
  for (const end of ends.splice(0)) end();
  await turn();
  expect(queues.reserveExecution(plan("late"))).not.toBeNull();
});

test("queues that are only in Redis have no place in this process", async () => {
  const { queues } = queuesAt("redis://127.0.0.1:1");
  expect(queues.reserveExecution(plan("plan_1"))).toBeNull();
});

test("hints beyond the limit are dropped and reported while the process has no room for them", async () => {
  const errors: unknown[] = [];
  const queues = createLocalQueues({ maxPending: 2, onError: (error) => void errors.push(error) });
  for (let index = 1; index <= 3; index += 1) queues.offerExecution(plan(`plan_${index}`));
  await expect.poll(() => errors.map(String)).toEqual([expect.stringContaining("OfferDroppedError")]);
  const { handled } = await workerOf(queues);
  await expect.poll(() => handled).toEqual(["plan_1", "plan_2"]);
});
