/** `/metrics` of a real executor after work of every kind, and `/readyz` in each state. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { startServerProxy, testServers } from "@planwright/testing";
import { expect, onTestFinished, test } from "vitest";
import { openWorkbench, SOON_DEAD, TENANT, type Workbench } from "./executor-process.ts";
import { healthPort } from "./health-port.ts";

/** A tool whose server is away, in the catalogue since an earlier time. */
const AWAY = {
  name: "away_read",
  server: "away",
  inputSchema: { type: "object" },
  annotations: { readOnlyHint: true },
} as const;

/** The text of `/metrics` of the executor with this health port. */
const scraped = async ({ HEALTH_PORT }: { HEALTH_PORT: string }) =>
  (await fetch(`http://127.0.0.1:${HEALTH_PORT}/metrics`)).text();

async function open(mcpServers: Record<string, unknown> = {}): Promise<Workbench> {
  const bench = await openWorkbench(mcpServers);
  onTestFinished(() => bench.close());
  return bench;
}

test("/metrics counts plans, calls, retries, doubts and writes", async () => {
  const bench = await open();
  const { env, scrape } = await healthPort();
  bench.tools.script({
    keyed_effect: [{ type: "lose-answer" }],
    plain_effect: [{ type: "lose-answer" }],
  });
  await bench.startProcess(env);
  const good = await bench.submit([
    { id: "read", tool: "read_value", arguments: { value: 1 } },
    { id: "again", tool: "read_value", arguments: { value: "<<read.value>>" } },
    { id: "keyed", tool: "keyed_effect", arguments: { value: "<<again.value>>" } },
  ]);
  await bench.end(good._id);
  const doubtful = await bench.submit([{ id: "effect", tool: "plain_effect", arguments: { value: 1 } }]);
  await bench.until(doubtful._id, ({ status, lease }) => status === "WAITING" && lease === null);

  await expect.poll(async () => (await scrape())("plans_held")).toBe(0);
  const value = await scrape();
  expect(value("claims_total")).toBe(2);
  const counted = (tool: string, outcome: string, code = "") =>
    value(`attempts_total{tool="${tool}",server="counting",outcome="${outcome}",code="${code}"}`);
  expect(value('plans_ended_total{status="COMPLETED",code="",server=""}')).toBe(1);
  expect(counted("read_value", "completed")).toBe(2);
  expect(counted("keyed_effect", "unknown", "TOOL_CONNECTION_LOST")).toBe(1);
  expect(counted("keyed_effect", "completed")).toBe(1);
  expect(counted("plain_effect", "unknown", "TOOL_CONNECTION_LOST")).toBe(1);
  expect(value('attempt_duration_seconds_count{tool="keyed_effect",server="counting"}')).toBe(2);
  expect(value('attempt_duration_seconds_bucket{le="+Inf",tool="read_value",server="counting"}')).toBe(2);
  // Steps and attempts are apart.
  expect(value('steps_ended_total{tool="keyed_effect",server="counting",status="COMPLETED",code=""}')).toBe(
    1,
  );
  expect(value('step_duration_seconds_count{tool="keyed_effect",server="counting"}')).toBe(1);
  expect(value('plan_duration_seconds_count{status="COMPLETED"}')).toBe(1);
  expect(value('plan_wait_seconds_count{reason="no worker"}')).toBe(2);
  expect(value('tool_server_connected{server="counting"}')).toBe(1);
  expect(value("retries_total")).toBe(1);
  expect(value("in_doubt_total")).toBe(1);
  expect(value("lease_losses_total")).toBe(0);
  expect(value("commit_bulks_total")).toBeGreaterThan(0);
  expect(value("commit_writes_total")).toBeGreaterThanOrEqual(value("commit_bulks_total"));
  const entries = value("planwright_journal_entries_total");
  // Intents and results of calls with effects are separate entries; the doubtful plan has not ended.
  expect(entries).toBeGreaterThanOrEqual(4);
  expect(value("planwright_journal_bulks_total")).toBeGreaterThan(0);
  expect(value("planwright_journal_bulks_total")).toBeLessThanOrEqual(entries);
  expect(value("planwright_journal_append_duration_seconds_count")).toBe(entries);
  expect([value("planwright_journal_refused_total"), value("planwright_journal_failed_total")]).toEqual([
    0, 0,
  ]);
  expect(value("jobs_waiting")).toBe(0);
  expect(await scraped(env)).toMatch(
    /^planwright_build_info\{version="\d+\.\d+\.\d+",node_version="[\d.]+",service="executor"\} 1$/m,
  );
});

test("a server that cannot be reached makes no attempt; its gauge, and codes and servers of what failed, show it", async () => {
  const bench = await open({ away: { url: "http://127.0.0.1:1/mcp" } });
  await bench.store.publishTools("away", [{ descriptor: AWAY, digest: "0".repeat(64) }]);
  bench.tools.script({ plain_effect: [{ type: "tool-error", message: "no" }] });
  const { env, scrape } = await healthPort();
  await bench.startExecutor(env);
  const plan = await bench.submit({
    steps: [{ id: "ask", tool: "away_read", arguments: {} }],
    policy: { unreachableMs: 1_000 },
  });
  expect((await bench.end(plan._id)).plan.status).toBe("FAILED");
  const refused = await bench.submit([{ id: "effect", tool: "plain_effect", arguments: { value: 1 } }]);
  await bench.end(refused._id);
  const value = await scrape();
  const refusal = 'status="FAILED",code="TOOL_FAILED"';
  expect(value(`plans_ended_total{${refusal},server="counting"}`)).toBe(1);
  expect(value('tool_server_connected{server="away"}')).toBe(0);
  expect(value('tool_server_connected{server="counting"}')).toBe(1);
  expect(value('unreachable_total{server="away"}')).toBeGreaterThan(0);
  const failed = 'status="FAILED",code="TOOL_UNREACHABLE"';
  expect(value(`steps_ended_total{tool="away_read",server="away",${failed}}`)).toBe(1);
  expect(value(`plans_ended_total{${failed},server="away"}`)).toBe(1);
  expect(await scraped(env)).not.toMatch(/attempts_total\{[^}]*server="away"/);
});

test("plans in doubt are counted from the database, also by an executor that starts later", async () => {
  const bench = await open();
  bench.tools.script({ plain_effect: [{ type: "lose-answer" }] });
  const first = await healthPort();
  const executor = await bench.startExecutor(first.env);
  const { _id } = await bench.submit([{ id: "effect", tool: "plain_effect", arguments: { value: 1 } }]);
  await bench.until(_id, ({ status, lease }) => status === "WAITING" && lease === null);
  await executor.end();

  const second = await healthPort();
  const third = await healthPort();
  await bench.startExecutor(second.env);
  await bench.startExecutor(third.env);
  // A scrape shows no figures while MongoDB has not answered, for which it waits a second at most.
  await expect
    .poll(async () => (await second.scrape())('planwright_workers{kind="executor"}'))
    .toBeGreaterThan(0);
  const value = await second.scrape();
  expect(value('planwright_needs{kind="doubt"}')).toBe(1);
  expect(value('planwright_needs_oldest_age_seconds{kind="doubt"}')).toBeGreaterThan(0);
  expect(value('planwright_plans{status="WAITING",reason="in doubt"}')).toBe(1);
  expect(value('planwright_workers{kind="executor"}')).toBe(2);
  // Only the first worker reads them.
  expect(await scraped(third.env)).not.toMatch(/^planwright_(needs|plans|due|workers)[_a-z]*\{/m);
  const claimed = await bench.store.resolveUnits(TENANT, _id, {
    by: "Olga",
    decisions: [{ key: "effect", resolution: { type: "completed", output: {} } }],
  });
  expect(claimed.type).not.toBe("unknown");
  await bench.end(_id);
  expect(
    (await second.scrape())('plan_wait_seconds_count{reason="in doubt"}') +
      (await third.scrape())('plan_wait_seconds_count{reason="in doubt"}'),
  ).toBe(1);
});

test("/metrics shows plans that wait while this executor is full, and plans that others took", async () => {
  const bench = await open();
  const { env, scrape } = await healthPort();
  bench.tools.script({ keyed_effect: [{ type: "hang" }] });
  const first = await bench.startProcess({ ...env, ...SOON_DEAD, MAX_PLANS: "1" });
  const submit = () => bench.submit([{ id: "effect", tool: "keyed_effect", arguments: { value: 1 } }]);
  const { _id: held } = await submit();
  await bench.until(held, ({ status }) => status === "RUNNING");
  await submit();
  // Read once: the figures of the system are kept for 15 s.
  const full = await scrape();
  expect(full("plans_held")).toBe(1);
  expect(full('planwright_due{work="plans"}')).toBe(1);
  expect(full('planwright_plans{status="RUNNING",reason=""}')).toBe(1);
  expect(full('planwright_plans{status="QUEUED",reason=""}')).toBe(1);
  // It is frozen until another executor has taken over its plan.
  first.kill("SIGSTOP");
  await bench.startExecutor();
  await bench.until(held, ({ epoch }) => epoch > 1);
  first.kill("SIGCONT");
  await expect.poll(async () => (await scrape())("lease_losses_total")).toBe(1);
});

test("an executor is ready when its tools are published and it takes plans, and is not ready while it stops", async () => {
  const silent = createServer(() => undefined);
  silent.listen(0, "127.0.0.1");
  await once(silent, "listening");
  onTestFinished(() => void silent.close());
  const address: AddressInfo | string | null = silent.address();
  const port = typeof address === "object" ? address?.port : 0;
  const bench = await open({ silent: { url: `http://127.0.0.1:${port}/mcp` } });
  bench.tools.script({ read_value: [{ type: "hang" }] });
  const { env, at, ready } = await healthPort();
  const { child, said, exited } = bench.spawnExecutor(env);
  const notYet = { start: "the tools of its servers are not published yet" };
  await expect.poll(ready).toEqual([503, { status: "not ready", failing: notYet }]);
  expect((await fetch(at("/healthz"))).status).toBe(200);
  silent.close();
  silent.closeAllConnections();
  await said("executor ready");
  expect(await ready()).toEqual([200, { status: "ready" }]);

  const plan = await bench.submit([{ id: "read", tool: "read_value", arguments: { value: 1 } }]);
  await expect.poll(() => bench.tools.stats()["read_value"]?.calls).toBe(1);
  child.kill("SIGTERM");
  const stopping = { shutdown: "the service is stopping" };
  await expect.poll(ready).toEqual([503, { status: "not ready", failing: stopping }]);
  expect((await fetch(at("/healthz"))).status).toBe(200);
  child.kill("SIGKILL");
  await exited;
  expect((await bench.store.getPlan(plan.tenant, plan._id))?.status).toBe("RUNNING");
});

test("an executor is not ready without MongoDB; without Redis it is ready and finds plans by sweeping", async () => {
  const bench = await open();
  const mongodb = await startServerProxy(bench.mongodbUrl);
  const redis = await startServerProxy(testServers().redisUrl);
  onTestFinished(async () => void (await Promise.all([mongodb.close(), redis.close()])));
  const { env, at, ready } = await healthPort();
  await bench.startExecutor({ ...env, MONGODB_URL: mongodb.url, REDIS_URL: redis.url });
  expect(await ready()).toEqual([200, { status: "ready" }]);

  redis.cut();
  const plan = await bench.submit([{ id: "read", tool: "read_value", arguments: { value: 1 } }]);
  expect((await bench.end(plan._id)).plan.status).toBe("COMPLETED");
  expect(await ready()).toEqual([200, { status: "ready" }]);

  mongodb.cut();
  const failing = { mongodb: expect.any(String) };
  await expect.poll(ready).toEqual([503, { status: "not ready", failing }]);
  expect((await fetch(at("/healthz"))).status).toBe(200);
  mongodb.mend();
  await expect.poll(ready).toEqual([200, { status: "ready" }]);
});
