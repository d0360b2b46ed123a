import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createConnection, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type LocalServer, startRedis } from "@planwright/local";
import { testServers } from "@planwright/testing";
import { Redis } from "ioredis";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import {
  type Acquired,
  createLocalQueues,
  createQueues,
  type Slot,
  type ToolLimit,
  type ToolLimits,
} from "../src/index.ts";

const LEASE_MS = 1_000;
const ONE: ToolLimit = { name: "server/one", maxConcurrency: 1 };
const FIVE: ToolLimit = { name: "server/five", maxConcurrency: 5 };

/** A Redis server for one test, which may stop, freeze and empty it. */
async function ownRedis(): Promise<LocalServer> {
  const dataDir = mkdtempSync(join(tmpdir(), "planwright-limits-"));
  const { REDIS_URL: _, ...env } = process.env;
  const redis = await startRedis({ dataDir, env });
  onTestFinished(async () => {
    if (redis.pid()) process.kill(redis.pid()!, "SIGCONT");
    await redis.kill();
    rmSync(dataDir, { recursive: true, force: true });
  });
  return redis;
}

/** The limits for one executor. */
function limitsAt(redisUrl: string, prefix = "test"): ToolLimits {
  const queues = createQueues({ redisUrl, prefix });
  const limits = queues.openToolLimits({ leaseMs: LEASE_MS, onError: () => undefined });
  onTestFinished(async () => {
    await limits.close();
    await queues.close();
  });
  return limits;
}

let tickets = 0;
/** Acquires a slot, without a timeout. */
async function take(limits: ToolLimits, limit: ToolLimit, ticket = `call ${tickets++}`): Promise<Slot> {
  const slot = await slotOf(await limits.acquire({ limit, ticket, signal: new AbortController().signal }));
  return slot!;
}

function slotOf(acquired: Acquired): Promise<Slot | null> {
  return Promise.resolve(acquired.slot);
}

/** Asks for a slot; `state` shows whether it was granted. */
function ask(limits: ToolLimits, limit: ToolLimit, ticket = `call ${tickets++}`) {
  const state = { isGranted: false, slot: null as Slot | null };
  const controller = new AbortController();
  void limits
    .acquire({ limit, ticket, signal: controller.signal })
    .then(slotOf)
    .then((slot) => {
      state.slot = slot;
      state.isGranted = slot !== null;
    });
  return { state, stopWaiting: () => controller.abort() };
}

/** Calls `look` repeatedly for a time. */
async function during(ms: number, look: () => void): Promise<void> {
  for (const until = performance.now() + ms; performance.now() < until; await delay(20)) look();
}

/** Makes calls through several executors, and returns the maximum number of simultaneous calls. */
async function makeCalls(executors: ToolLimits[], limit: ToolLimit, count: number, durationMs: number) {
  let active = 0;
  let maxActive = 0;
  await Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const slot = await take(executors[index % executors.length]!, limit);
      expect(await slot.confirm()).toBe(true);
      active += 1;
      maxActive = Math.max(maxActive, active);
      await delay(durationMs * (0.5 + Math.random()));
      active -= 1;
      slot.release();
    }),
  );
  return maxActive;
}

test("a slot that is released right before close is free after close", async () => {
  const { url: redisUrl } = await ownRedis(); // a server without the scripts
  const limits = limitsAt(redisUrl);
  (await take(limits, ONE)).release();
  await limits.close();
  const redis = new Redis(redisUrl);
  onTestFinished(() => redis.disconnect());
  const holders = await redis.keys("*:holders:*");
  expect(holders).toEqual([]);
});

test("simultaneous calls of several processes never exceed the limit, and all are made", async () => {
  const { redisUrl, redisPrefix } = testServers();
  const executors = [1, 2, 3].map(() => limitsAt(redisUrl, redisPrefix));
  expect(await makeCalls(executors, FIVE, 200, 10)).toBe(5);
});

test("a slot is held as long as its holder lives, and is free after the holder's death", async () => {
  const { redisUrl, redisPrefix } = testServers();
  const [first, second] = [limitsAt(redisUrl, redisPrefix), limitsAt(redisUrl, redisPrefix)];
  await take(first!, ONE);
  const { state } = ask(second!, ONE);
  await during(3 * LEASE_MS, () => expect(state.isGranted).toBe(false));
  await first!.close();
  await expect.poll(() => state.isGranted).toBe(true);
});

/** A way to Redis on which answers to commands can be held back, while messages to subscribers pass. */
async function waySlowerThanMessages(redisUrl: string) {
  const answers = new Set<Socket>();
  const all: Socket[] = [];
  let messages = 0;
  const server = createServer((inner) => {
    const outer = createConnection(Number(new URL(redisUrl).port), "127.0.0.1");
    all.push(inner, outer);
    answers.add(outer);
    inner.on("data", (data) => {
      if (/subscribe/i.test(data.toString())) answers.delete(outer);
      outer.write(data);
    });
    outer.on("data", (data) => {
      if (!answers.has(outer) && data.includes("message")) messages += 1;
      inner.write(data);
    });
    inner.on("error", () => undefined).on("close", () => outer.destroy());
    outer.on("error", () => undefined).on("close", () => inner.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    for (const socket of all) socket.destroy();
    server.close();
  });
  const url = new URL(redisUrl);
  url.port = String(z.object({ port: z.number() }).parse(server.address()).port);
  return {
    url: url.href,
    messages: () => messages,
    hold: () => answers.forEach((socket) => void socket.pause()),
    pass: () => answers.forEach((socket) => void socket.resume()),
  };
}

/** Callers are not roused by time, only when they are woken. */
function withoutTimers(): void {
  vi.useFakeTimers({ toFake: ["setTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
}

test("a wake that comes before the answer that says to wait is not lost", async () => {
  const { redisUrl, redisPrefix } = testServers();
  const way = await waySlowerThanMessages(redisUrl);
  const [first, second] = [limitsAt(redisUrl, redisPrefix), limitsAt(way.url, redisPrefix)];
  const held = await take(first, ONE);
  (await take(second, FIVE)).release(); // it is connected
  const redis = new Redis(redisUrl);
  onTestFinished(() => redis.disconnect());
  const callers = async () => (await redis.zcard(`{${redisPrefix}:limits}:line:${ONE.name}`)) === 1;
  withoutTimers();
  way.hold();
  const slot = take(second, ONE);
  while (!(await callers())) await delay(5);
  held.release();
  while (way.messages() === 0) await delay(5);
  await delay(100); // it has arrived
  way.pass();
  expect(await slot).not.toBeNull();
});

/** A call that confirms so late that another one has its part of the rate. */
async function lateCall() {
  const { redisUrl, redisPrefix } = testServers();
  const [first, second] = [limitsAt(redisUrl, redisPrefix), limitsAt(redisUrl, redisPrefix)];
  const redis = new Redis(redisUrl);
  onTestFinished(() => redis.disconnect());
  const single: ToolLimit = { name: "server/late", rate: { max: 1, perMs: 500 } };
  const ending = new AbortController();
  const late = await slotOf(await first.acquire({ limit: single, ticket: "late", signal: ending.signal }));
  await delay(1_900);
  const other = await take(second, single);
  const inLine = () => redis.zcard(`{${redisPrefix}:limits}:line:${single.name}`);
  return { late: late!, other, ending, inLine, close: () => first.close() };
}

test("a call whose confirmation waits is woken when it may go", async () => {
  const { late, other, inLine } = await lateCall();
  withoutTimers();
  const confirmed = late.confirm();
  while ((await inLine()) === 0) await delay(5);
  await delay(100); // it knows that it waits
  other.release();
  expect(await confirmed).toBe(true);
});

test("a call whose wait for its confirmation was ended leaves the line", async () => {
  const { late, ending, inLine, close } = await lateCall();
  const confirmed = late.confirm();
  while ((await inLine()) === 0) await delay(5);
  ending.abort();
  expect(await confirmed).toBe(false);
  late.release();
  await close();
  expect(await inLine()).toBe(0);
});

/** The limits of two executors: over Redis, or of one process that works alone. */
const PLACES: [string, () => [ToolLimits, ToolLimits]][] = [
  [
    "in Redis",
    () => {
      const { redisUrl, redisPrefix } = testServers();
      return [limitsAt(redisUrl, redisPrefix), limitsAt(redisUrl, redisPrefix)];
    },
  ],
  [
    "in memory",
    () => {
      const limits = createLocalQueues().openToolLimits({ leaseMs: LEASE_MS, onError: () => undefined });
      onTestFinished(() => limits.close());
      return [limits, limits];
    },
  ],
];

/** Asks for a slot of `ONE`; resolves when the call is in the line, or was granted. */
async function standInLine(limits: ToolLimits, ticket: string, tenant?: string, signal?: AbortSignal) {
  const acquired = await limits.acquire({
    limit: ONE,
    ticket,
    tenant,
    signal: signal ?? new AbortController().signal,
  });
  return { slot: slotOf(acquired) };
}

describe.each(PLACES)("slots %s", (_place, open) => {
  test("simultaneous calls never exceed the limit, and all are made", async () => {
    expect(await makeCalls(open(), FIVE, 200, 10)).toBe(5);
  });

  test("different limits are independent", async () => {
    const [limits] = open();
    await take(limits, ONE);
    await take(limits, { ...ONE, name: "server/one of tenant b" });
  });

  test("an abandoned slot is granted to another call only after the end of its lease", async () => {
    const [limits] = open();
    const slot = await take(limits, ONE);
    const { state } = ask(limits, ONE);
    slot.abandon();
    slot.release();
    await during(LEASE_MS / 2, () => expect(state.isGranted).toBe(false));
    await expect.poll(() => state.isGranted).toBe(true);
  });

  test("the caller that asked first gets the slot first, also when it was away meanwhile", async () => {
    const [first, second] = open();
    const held = await take(first, ONE);
    const parking = new AbortController();
    const parked = await standInLine(first, "parked", undefined, parking.signal);
    parking.abort();
    expect(await parked.slot).toBeNull();
    const order: string[] = [];
    const done: Promise<void>[] = [];
    for (const [index, ticket] of ["a", "b", "c", "parked"].entries()) {
      const { slot } = await standInLine(index % 2 === 0 ? first : second, ticket);
      done.push(
        slot.then((granted) => {
          order.push(ticket);
          granted?.release();
        }),
      );
    }
    held.release();
    await Promise.all(done);
    expect(order).toEqual(["parked", "a", "b", "c"]);
  });

  test("tenants get the slots of one limit in turns, also one that asks again after each call", async () => {
    const [limits] = open();
    const held = await take(limits, ONE);
    const order: string[] = [];
    const call = async (tenant: string, ticket: string) => {
      const { slot } = await standInLine(limits, ticket, tenant);
      return async () => {
        const granted = await slot;
        order.push(ticket);
        granted?.release();
      };
    };
    const done: Promise<void>[] = [];
    for (const ticket of ["a1", "a2", "a3", "a4"]) done.push((await call("a", ticket))());
    const b1 = await call("b", "b1");
    done.push(
      b1()
        .then(async () => (await call("b", "b2"))())
        .then(async () => (await call("b", "b3"))()),
    );
    held.release();
    await Promise.all(done);
    // b asks again only after its call: one of a may come before that, and never two.
    expect(order.join(" ")).toMatch(/^a1 b1 (a\d ){1,2}b2 (a\d ?){1,2}b3/);
    expect(order.filter((ticket) => ticket.startsWith("a"))).toEqual(["a1", "a2", "a3", "a4"]);
  });
});

test("a process that starts alone gives no slot for a lease, and no call under a rate for its window", async () => {
  const startedAt = performance.now();
  const limits = createLocalQueues().openToolLimits({ leaseMs: LEASE_MS, onError: () => undefined });
  onTestFinished(() => limits.close());
  const rated: ToolLimit = { name: "server/rated", rate: { max: 1, perMs: 200 } };
  await Promise.all([
    take(limits, ONE).then(() => expect(performance.now() - startedAt).toBeGreaterThanOrEqual(LEASE_MS)),
    take(limits, rated).then(() => expect(performance.now() - startedAt).toBeGreaterThanOrEqual(1_200)),
  ]);
});

test("a call is not confirmed while Redis cannot confirm its slot", async () => {
  const redis = await ownRedis();
  const limits = limitsAt(redis.url);
  const controller = new AbortController();
  const slot = await slotOf(await limits.acquire({ limit: ONE, ticket: "x", signal: controller.signal }));
  await redis.kill();
  await during(300, () => undefined); // the grant is no longer fresh
  let answer: boolean | undefined;
  const confirmed = slot!.confirm().then((isConfirmed) => (answer = isConfirmed));
  await during(LEASE_MS, () => expect(answer).toBeUndefined());
  await redis.restart();
  expect(await confirmed).toBe(true);
  await during(300, () => undefined);
  await redis.kill();
  controller.abort();
  expect(await slot!.confirm()).toBe(false);
});

test("a slot that is released while it is confirmed is not asked for again", async () => {
  const redis = await ownRedis();
  const limits = limitsAt(redis.url);
  const { signal } = new AbortController();
  const slot = await slotOf(await limits.acquire({ limit: ONE, ticket: "x", signal }));
  await redis.kill();
  await during(300, () => undefined); // the grant is no longer fresh
  const confirmed = slot!.confirm();
  slot!.release();
  await redis.restart();
  expect(await confirmed).toBe(false);
});

describe("a Redis that loses data or does not answer", () => {
  const faults: [string, (redis: LocalServer) => Promise<void>][] = [
    [
      "is emptied",
      async (redis) => {
        const client = new Redis(redis.url);
        await client.flushall();
        client.disconnect();
      },
    ],
    [
      "is killed and started again with its data after longer than a lease",
      async (redis) => {
        await redis.kill();
        await delay(2 * LEASE_MS);
        await redis.restart();
      },
    ],
    [
      "is frozen for longer than a lease",
      async (redis) => {
        process.kill(redis.pid()!, "SIGSTOP");
        await delay(2 * LEASE_MS);
        process.kill(redis.pid()!, "SIGCONT");
      },
    ],
  ];

  test.each(faults)("grants no slot twice when it %s", async (_, fault) => {
    const redis = await ownRedis();
    const [first, second] = [limitsAt(redis.url), limitsAt(redis.url)];
    const held = await take(first!, ONE);
    const { state } = ask(second!, ONE);
    await fault(redis);
    await during(3 * LEASE_MS, () => expect(state.isGranted).toBe(false));
    held.release();
    await expect.poll(() => state.isGranted).toBe(true);
  });

  test.each(faults)(
    "all calls are made, and never more than the limit at once, when it %s meanwhile",
    async (_, fault) => {
      const redis = await ownRedis();
      const executors = [1, 2, 3].map(() => limitsAt(redis.url));
      const [maxActive] = await Promise.all([
        makeCalls(executors, FIVE, 100, 150),
        delay(LEASE_MS + 500).then(() => fault(redis)),
      ]);
      expect(maxActive).toBe(5);
    },
  );

  test("frees the slot of a holder that died meanwhile", async () => {
    const redis = await ownRedis();
    const [first, second] = [limitsAt(redis.url), limitsAt(redis.url)];
    await take(first!, ONE);
    const { state } = ask(second!, ONE);
    process.kill(redis.pid()!, "SIGSTOP");
    void first!.close();
    await delay(2 * LEASE_MS);
    process.kill(redis.pid()!, "SIGCONT");
    await expect.poll(() => state.isGranted).toBe(true);
  });

  test("answers that a caller waits within a second, and grants the slot when Redis is available", async () => {
    const redis = await ownRedis();
    await redis.kill();
    const limits = limitsAt(redis.url);
    const acquired = await limits.acquire({ limit: ONE, ticket: "x", signal: new AbortController().signal });
    expect(acquired.type).toBe("waiting");
    await redis.restart();
    expect(await slotOf(acquired)).not.toBeNull();
  });
});

describe("a rate limit", () => {
  const RATED: ToolLimit = { name: "server/rated", rate: { max: 20, perMs: 500 } };

  /** The maximum number of calls that reached the tool in any span of the window. */
  function mostInWindow(arrivals: number[], windowMs: number): number {
    const sorted = arrivals.toSorted((a, b) => a - b);
    return Math.max(
      ...sorted.map((from) => sorted.filter((at) => at >= from && at < from + windowMs).length),
    );
  }

  /** What is promised holds for calls that arrive within this time of their confirmation. */
  const REACH_MS = 1_000;

  async function arrivalsOf(executors: ToolLimits[], count: number): Promise<number[]> {
    const arrivals: number[] = [];
    await Promise.all(
      Array.from({ length: count }, async (_, index) => {
        const slot = await take(executors[index % executors.length]!, RATED);
        expect(await slot.confirm()).toBe(true);
        const latest = performance.now() + REACH_MS;
        await delay(Math.random() * 100); // the call is sent
        arrivals.push(Math.min(performance.now(), latest));
        await delay(Math.random() * 50);
        slot.release();
      }),
    );
    return arrivals;
  }

  test.each(PLACES)(
    "%s is not exceeded in any span by calls of several executors, and all calls are made",
    async (_, open) => {
      const arrivals = await arrivalsOf(open(), 100);
      expect(arrivals).toHaveLength(100);
      expect(mostInWindow(arrivals, 500)).toBeLessThanOrEqual(20);
    },
  );

  /** Makes a call that the tool answers at once, and notes its time. */
  async function callAt(times: number[], slot: Slot): Promise<void> {
    expect(await slot.confirm()).toBe(true);
    times.push(performance.now());
    slot.release();
  }

  test.each(PLACES)("%s is not exceeded by a call that is sent long after its grant", async (_, open) => {
    const [first, second] = open();
    const single: ToolLimit = { name: "server/late", rate: { max: 1, perMs: 500 } };
    const times: number[] = [];
    const late = await take(first, single);
    const other = take(second, single).then((slot) => callAt(times, slot));
    await delay(1_900); // such as for a connection; a call that was sent at its grant would not count any more
    await Promise.all([callAt(times, late), other]);
    expect(times[1]! - times[0]!).toBeGreaterThanOrEqual(500);
  });

  test.each(PLACES)("%s counts a call that arrives a second after its confirmation", async (_, open) => {
    const [first, second] = open();
    const single: ToolLimit = { name: "server/slow", rate: { max: 1, perMs: 500 } };
    const slot = await take(first, single);
    await delay(150);
    const arrivesAt = performance.now() + REACH_MS;
    expect(await slot.confirm()).toBe(true);
    await take(second, single);
    expect(performance.now() - arrivesAt).toBeGreaterThanOrEqual(500);
  });

  test.each(PLACES)("%s is not exceeded by a part of a millisecond", async (_, open) => {
    const [limits] = open();
    const single: ToolLimit = { name: "server/quick", rate: { max: 1, perMs: 5 } };
    const times: number[] = [];
    await callAt(times, await take(limits, single));
    while (times.length < 100) {
      // Asks all the time, so that some ask as early as a call can be granted.
      const asking = new AbortController();
      const acquired = await limits.acquire({ limit: single, ticket: "quick", signal: asking.signal });
      if (acquired.type === "granted") await callAt(times, acquired.slot);
      else {
        asking.abort();
        (await acquired.slot)?.release();
      }
    }
    const apart = times.slice(1).map((at, index) => at - times[index]!);
    expect(Math.min(...apart)).toBeGreaterThanOrEqual(5);
  });

  test("is not exceeded when Redis is emptied meanwhile", async () => {
    const redis = await ownRedis();
    const executors = [1, 2, 3].map(() => limitsAt(redis.url));
    const client = new Redis(redis.url);
    onTestFinished(() => client.disconnect());
    const [arrivals] = await Promise.all([
      arrivalsOf(executors, 100),
      delay(LEASE_MS + 600).then(() => client.flushall()),
    ]);
    expect(arrivals).toHaveLength(100);
    expect(mostInWindow(arrivals, 500)).toBeLessThanOrEqual(20);
  });

  test("counts a call that was being sent when Redis was emptied", async () => {
    const redis = await ownRedis();
    const limits = limitsAt(redis.url);
    const client = new Redis(redis.url);
    onTestFinished(() => client.disconnect());
    const single: ToolLimit = { name: "server/single", rate: { max: 1, perMs: 500 } };
    const first = await take(limits, single);
    expect(await first.confirm()).toBe(true);
    const arrivedAt = performance.now() + REACH_MS - 100;
    await client.flushall();
    await take(limits, single);
    expect(performance.now() - arrivedAt).toBeGreaterThanOrEqual(500);
  });

  test("does not count a call that was not sent", async () => {
    const { redisUrl, redisPrefix } = testServers();
    const limits = limitsAt(redisUrl, redisPrefix);
    const rare: ToolLimit = { name: "server/rare", rate: { max: 1, perMs: 3_600_000 } };
    const client = new Redis(redisUrl);
    onTestFinished(() => client.disconnect());
    const life = `{${redisPrefix}:limits}:life`;
    await expect.poll(() => client.hget(life, "run")).not.toBeNull();
    await client.hset(life, "since", 1); // as if Redis had been running for a long time
    (await take(limits, rare)).release();
    const sent = await take(limits, rare);
    await sent.confirm();
    sent.release();
    const { state, stopWaiting } = ask(limits, rare);
    await during(LEASE_MS, () => expect(state.isGranted).toBe(false));
    stopWaiting();
  });
});
