/** `/metrics` of a real planner after work of every kind, and `/readyz` in each state. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RequestId } from "@planwright/plan";
import { createStore } from "@planwright/store";
import { startModelServer, startServerProxy, testServers } from "@planwright/testing";
import { expect, onTestFinished, test } from "vitest";
import { startPlanner } from "./planner-process.ts";
import { ANSWER, SENTENCE, TOOLS } from "./tools.ts";

const TENANT = "default";

/** @param env - further settings of the planner */
async function open(env: Record<string, string> = {}) {
  const { mongodbUrl, redisUrl, redisPrefix } = testServers();
  const mongodb = await startServerProxy(mongodbUrl);
  const redis = await startServerProxy(redisUrl);
  const store = await createStore({ url: mongodbUrl });
  const model = await startModelServer();
  const folder = await mkdtemp(join(tmpdir(), "planwright-planner-"));
  const pricesFile = join(folder, "prices.json");
  await writeFile(pricesFile, JSON.stringify({ "openai:test": { input: 1_000, output: 2_000 } }));
  const tools = TOOLS.map((descriptor) => ({ descriptor, digest: "0".repeat(64) }));
  await store.publishTools("notes", tools);
  const planner = await startPlanner({
    MONGODB_URL: mongodb.url,
    REDIS_URL: redis.url,
    QUEUE_PREFIX: redisPrefix,
    SWEEP_EVERY_MS: "100",
    MODEL: "openai:test",
    OPENAI_BASE_URL: model.openAiUrl,
    MODEL_MAX_RETRIES: "0",
    MODEL_PRICES_FILE: pricesFile,
    ...env,
  });
  onTestFinished(async () => {
    await planner.end("SIGKILL");
    await Promise.all([mongodb.close(), redis.close()]);
    await model.close();
    await store.close();
    await rm(folder, { recursive: true, force: true });
  });
  const accept = (tenant = TENANT) => store.createRequest({ tenant, query: SENTENCE, autoExecute: false });
  /** Accepts a request and waits until its planning has ended. */
  const plan = async (): Promise<void> => {
    const request = await accept();
    const status = async () => (await store.getRequest(TENANT, request._id))?.status;
    await expect.poll(status).toMatch(/^(READY|FAILED)$/);
  };
  /** The values of all series, without the label that all series have. */
  const scrape = async () => {
    const text = await (await fetch(`${planner.health}/metrics`)).text();
    const series = new Map(
      text.split("\n").map((line): [string, string] => {
        const [name = "", value = ""] = line.replace(/,?service="planner"/, "").split(/ (?=\S+$)/);
        return [name.replace("{}", "").replace("{,", "{"), value];
      }),
    );
    return (name: string): number =>
      Number(series.get(name.startsWith("planwright_") ? name : `planwright_planner_${name}`) ?? Number.NaN);
  };
  const at = async (path: string): Promise<[number, unknown]> => {
    const response = await fetch(`${planner.health}${path}`);
    return [response.status, await response.json()];
  };
  return { mongodb, redis, store, model, planner, accept, plan, scrape, at };
}

test("/metrics counts runs, calls of models, tokens, cost and repairs", async () => {
  const { model, plan, scrape } = await open();
  const usage = { inputTokens: 100, outputTokens: 10 };
  const wrong = { steps: [{ id: "a", tool: "noSuchTool", arguments: {} }] };
  model.enqueue({ type: "answer", text: JSON.stringify(wrong), usage });
  model.enqueue({ type: "answer", text: JSON.stringify(ANSWER), usage });
  await plan();
  model.enqueue({ type: "error", status: 401, message: "Incorrect API key provided" });
  await plan();

  await expect
    .poll(async () => (await scrape())('runs_total{outcome="failed",code="MODEL_UNAUTHORIZED"}'))
    .toBe(1);
  const value = await scrape();
  expect(value('runs_total{outcome="planned",code=""}')).toBe(1);
  expect(value('run_duration_seconds_count{outcome="planned"}')).toBe(1);
  expect(value('model_calls_total{model="openai:test",outcome="answered"}')).toBe(2);
  expect(value('model_calls_total{model="openai:test",outcome="MODEL_UNAUTHORIZED"}')).toBe(1);
  expect(value('model_tokens_total{model="openai:test",direction="input"}')).toBe(200);
  expect(value('model_tokens_total{model="openai:test",direction="output"}')).toBe(20);
  expect(value('model_cost_usd_total{model="openai:test"}')).toBeCloseTo(0.24);
  expect(value('model_call_duration_seconds_count{model="openai:test"}')).toBe(3);
  expect(value("repairs_total")).toBe(1);
  expect([value("jobs_waiting"), value('planwright_due{work="requests"}')]).toEqual([0, 0]);
  expect(value('planwright_workers{kind="planner"}')).toBe(1);
  // Beginning and end of each request, and of each model call.
  expect(value("planwright_journal_entries_total")).toBe(10);
});

test("a planner is ready when it takes requests, also without Redis; it is not ready without MongoDB or while it stops", async () => {
  const { mongodb, redis, model, planner, accept, plan, at } = await open();
  const ready = [200, { status: "ready" }];
  await expect.poll(() => at("/readyz")).toEqual(ready);

  // Redis is not used: a sweep finds the request.
  redis.cut();
  model.enqueue({ type: "answer", text: JSON.stringify(ANSWER) });
  await plan();
  expect(await at("/readyz")).toEqual(ready);
  mongodb.cut();
  const away = { mongodb: expect.any(String) };
  await expect.poll(() => at("/readyz")).toEqual([503, { status: "not ready", failing: away }]);
  expect(await at("/healthz")).toEqual([200, { status: "alive" }]);
  mongodb.mend();
  redis.mend();
  await expect.poll(() => at("/readyz")).toEqual(ready);

  model.enqueue({ type: "hang" });
  await accept();
  await expect.poll(() => model.requests.length).toBe(2);
  planner.signal("SIGTERM");
  const failing = { shutdown: "the service is stopping" };
  await expect.poll(() => at("/readyz")).toEqual([503, { status: "not ready", failing }]);
  expect(await at("/healthz")).toEqual([200, { status: "alive" }]);
});

test("planning of a tenant that has made its model calls of an hour waits, holds nothing, and continues when the limit is raised", async () => {
  const { store, model, planner, accept, plan } = await open({ MAX_MODEL_CALLS_PER_HOUR: "1" });
  model.script(() => ({ type: "answer", text: JSON.stringify(ANSWER) }));
  await plan();
  const second = await accept();
  const statusOf = async (tenant: string, requestId: RequestId) =>
    (await store.getRequest(tenant, requestId))?.status;
  await expect.poll(() => planner.lines.join("\n")).toContain("planning waits");
  // Another tenant is planned meanwhile.
  const other = await accept("other");
  await expect.poll(() => statusOf("other", other._id)).toBe("READY");
  expect(await store.getRequest(TENANT, second._id)).toMatchObject({
    status: "PLANNING",
    lease: null,
    claims: 0,
    error: null,
  });
  expect(model.requests).toHaveLength(2);
  await store.setTenantLimits(TENANT, { maxModelCallsPerHour: 2 });
  await expect.poll(() => statusOf(TENANT, second._id), { timeout: 15_000 }).toBe("READY");
});
