import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type LocalServer, startRedis } from "@planwright/local";
import type { PlanDocument } from "@planwright/store";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openWorkbench, SOON_DEAD, TENANT, type Workbench } from "./executor-process.ts";

let bench: Workbench;
let redis: LocalServer;
let folder: string;

/** Each test has its own Redis, because tests empty and stop it. */
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "planwright-limits-"));
  const { REDIS_URL: _, ...env } = process.env;
  redis = await startRedis({ dataDir: folder, env });
  bench = await openWorkbench();
});
afterEach(async () => {
  await bench.close();
  await redis.kill();
  rmSync(folder, { recursive: true, force: true });
});

/** Silence after which slots of hanging calls, and slots that Redis has forgotten, become free again. */
const LIMIT_LEASE = { LIMIT_LEASE_MS: "4000" };
/** The default, for tests that count calls in each second: a busy machine may delay a call for seconds. */
const LONG_LIMIT_LEASE = { LIMIT_LEASE_MS: "10000" };
const settings = (env: Record<string, string> = {}) => ({ REDIS_URL: redis.url, ...LIMIT_LEASE, ...env });
const start = (env?: Record<string, string>) => bench.startExecutor(settings(env));
/** An executor as a process: one that a test ends, and one of several that share a limit. */
const startProcess = (env?: Record<string, string>) => bench.startProcess(settings(env));

/** A plan of independent calls of one tool. */
const calls = (tool: string, count: number, latencyMs: number, timeoutMs = 60_000) => ({
  steps: Array.from({ length: count }, (_, n) => ({
    id: `s${n}`,
    tool,
    timeoutMs,
    arguments: { value: n, latencyMs },
  })),
});

async function flushAll(): Promise<void> {
  const { hostname, port } = new URL(redis.url);
  const socket = connect(Number(port), hostname);
  socket.write("FLUSHALL\r\n");
  const [answer] = await once(socket, "data");
  expect(String(answer)).toContain("OK");
  socket.destroy();
}

function submitMany(count: number, plan: unknown): Promise<PlanDocument[]> {
  return Promise.all(Array.from({ length: count }, () => bench.submit(plan)));
}

async function statusesOf(plans: PlanDocument[]): Promise<string[]> {
  const ended = await Promise.all(plans.map(({ _id }) => bench.end(_id)));
  return [...new Set(ended.map(({ plan }) => plan.status))];
}

/** `npm test` makes enough calls that each executor waits for its slots; `npm run proof` makes more. */
for (const { times, options } of [
  { times: 1, options: {} },
  { times: 2, options: { tags: ["proof"] } },
]) {
  test(
    `three executors never exceed the limit of parallel calls of a tool, even after a SIGKILL and a FLUSHALL (${times * 64} calls)`,
    options,
    async () => {
      bench.tools.script({ limited_read: Array.from({ length: 4 }, () => ({ type: "hang" as const })) });
      const [first] = await Promise.all([startProcess(SOON_DEAD), startProcess(), startProcess()]);
      const plans = await submitMany(8 * times, calls("limited_read", 8, 150, 1_500));
      const made = () => bench.tools.stats()["limited_read"]?.calls ?? 0;
      await expect.poll(made).toBeGreaterThan(10 * times);
      await bench.stopExecutor(first, "SIGKILL");
      await expect.poll(made).toBeGreaterThan(30 * times);
      // Calls that hang hold all slots until they are stopped.
      bench.tools.script({ limited_read: Array.from({ length: 5 }, () => ({ type: "hang" as const })) });
      await expect.poll(() => bench.tools.stats()["limited_read"]?.active).toBe(5);
      await flushAll();
      expect(await statusesOf(plans)).toEqual(["COMPLETED"]);
      expect(bench.tools.stats()["limited_read"]).toMatchObject({ maxConcurrency: 5, active: 0 });
    },
  );

  test(
    `three executors never exceed a rate in any second, even when Redis is emptied (${times * 60} calls)`,
    options,
    async () => {
      // Processes: a call has a second from its confirmation to the tool, and takes longer on one busy event loop
      // of three executors and the tool.
      await Promise.all([1, 2, 3].map(() => startProcess(LONG_LIMIT_LEASE)));
      const plans = await submitMany(6 * times, calls("rated_effect", 10, 0));
      await expect.poll(async () => (await bench.tools.ledger()).length).toBeGreaterThan(25 * times);
      await flushAll();
      expect(await statusesOf(plans)).toEqual(["COMPLETED"]);
      const calledAt = (await bench.tools.ledger()).map(({ at }) => at).toSorted((a, b) => a - b);
      expect(calledAt).toHaveLength(60 * times);
      const inSecond = calledAt.map(
        (from) => calledAt.filter((at) => at >= from && at < from + 1_000).length,
      );
      expect(Math.max(...inSecond)).toBeLessThanOrEqual(20);
    },
  );
}

test("calls whose large arguments take time to resolve keep the slots that they waited for", async () => {
  bench.tools.script({ read_value: [{ type: "huge", bytes: 300_000 }] });
  await start();
  const sends = Array.from({ length: 30 }, (_, n) => ({
    id: `s${n}`,
    tool: "rated_effect",
    timeoutMs: 60_000,
    arguments: { value: "<<read.text>>", reference: `s${n}` },
  }));
  const plan = await bench.submit({ steps: [{ id: "read", tool: "read_value" }, ...sends] });
  expect(await statusesOf([plan])).toEqual(["COMPLETED"]);
  expect(await bench.tools.ledger()).toHaveLength(30);
});

test("a plan that only waits for a slot releases its worker, and is claimed again for the slot", async () => {
  await start();
  const { _id: busy } = await bench.submit(calls("limited_read", 5, 60_000));
  await expect.poll(() => bench.tools.stats()["limited_read"]?.active).toBe(5);
  const { _id: waiting } = await bench.submit(calls("limited_read", 2, 0));
  await expect
    .poll(() => bench.store.getPlan(TENANT, waiting))
    .toMatchObject({ status: "WAITING", waitReason: "limit", lease: null });
  await bench.store.requestCancel(TENANT, busy, "client");
  const { plan, steps } = await bench.end(waiting);
  expect(plan.status).toBe("COMPLETED");
  expect([...steps.values()].map(({ attempts }) => attempts.length)).toEqual([1, 1]);
});

test("without Redis limited calls wait and all others continue", async () => {
  await redis.kill();
  await start();
  const { _id: limited } = await bench.submit({
    steps: [
      { id: "free", tool: "read_value", arguments: { value: 1 } },
      { id: "limited", tool: "limited_read", arguments: { value: 2 } },
    ],
  });
  const { _id: free } = await bench.submit(calls("plain_effect", 3, 0));
  expect((await bench.end(free)).plan.status).toBe("COMPLETED");
  await expect
    .poll(() => bench.store.getPlan(TENANT, limited))
    .toMatchObject({ status: "WAITING", waitReason: "limit" });
  const { free: done, limited: held } = Object.fromEntries(await bench.steps(limited));
  expect([done?.status, held?.status, held?.attempts]).toEqual(["COMPLETED", "PENDING", []]);
  expect(bench.tools.stats()["limited_read"]).toBeUndefined();
  await redis.restart();
  expect((await bench.end(limited)).plan.status).toBe("COMPLETED");
});

test("SIGTERM hands a plan that waits for a slot over at once", async () => {
  await start({ MAX_PLANS: "1" });
  await bench.submit(calls("limited_read", 5, 60_000));
  await expect.poll(() => bench.tools.stats()["limited_read"]?.active).toBe(5);
  const second = await startProcess();
  const { _id: planId } = await bench.submit(calls("limited_read", 1, 0));
  await expect.poll(() => bench.store.getPlan(TENANT, planId)).toMatchObject({ status: "RUNNING" });
  expect(await bench.stopExecutor(second, "SIGTERM")).toEqual([0, null]);
  expect(await bench.store.getPlan(TENANT, planId)).toMatchObject({ status: "QUEUED", lease: null });
});
