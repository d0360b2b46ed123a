/**
 * Durable steps per second and the latency of one plan, with real servers, real executors and no-op tools.
 * Everything is measured in one run on one machine: the ceiling of the database stands beside what is made of it.
 *
 * npm run bench -- execute [--plans 1000] [--json]
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { startMongo, startRedis } from "@planwright/local";
import { type Plan, type PlanId, parsePlan, type RequestId } from "@planwright/plan";
import { createQueues } from "@planwright/queue";
import { createStore } from "@planwright/store";
import { countingToolServerCommand } from "@planwright/testing";
import { MongoClient } from "mongodb";
import { cpuMsPerPlan, cpuSeconds } from "./cpu-seconds.ts";

const { values } = parseArgs({
  options: {
    plans: { type: "string", default: "600" },
    json: { type: "boolean", default: false },
    only: { type: "string", multiple: true },
  },
});
const PLANS = Number(values.plans);
const IN_FLIGHT = 64;
const TENANT = "bench";
const MAIN = fileURLToPath(new URL("../src/main.ts", import.meta.url));

const folder = await mkdtemp(join(tmpdir(), "planwright-bench-"));
const [mongo, redis] = await Promise.all([startMongo({ dataDir: folder }), startRedis({ dataDir: folder })]);
const mongodbUrl = mongo.url.replace("/?", "/bench?");
// Over stdio, the cheapest transport: what is measured is the execution, not HTTP.
const toolServer = countingToolServerCommand({ ledgerFile: join(folder, "ledger.jsonl"), stdio: true });
const serversFile = join(folder, "servers.json");
await writeFile(serversFile, JSON.stringify({ mcpServers: { counting: { ...toolServer, trusted: true } } }));

const store = await createStore({ url: mongodbUrl });
const queues = createQueues({ redisUrl: redis.url });
const client = await MongoClient.connect(mongodbUrl);

async function startExecutor() {
  const child = spawn(
    process.execPath,
    ["--max-semi-space-size=32", "--import", "tsx", "-C", "@planwright/source", MAIN],
    {
      env: {
        PATH: process.env["PATH"],
        MONGODB_URL: mongodbUrl,
        REDIS_URL: redis.url,
        MCP_SERVERS_FILE: serversFile,
        HEALTH_PORT: "0",
        LOG_LEVEL: "info",
      },
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  const lines = createInterface({ input: child.stdout });
  for await (const line of lines) if (line.includes("executor ready")) break;
  child.stdout.resume();
  return async () => {
    const exit = once(child, "exit");
    child.kill("SIGKILL");
    await exit;
  };
}

function planOf(steps: { id: string; dependsOn: string[] }[]): Plan {
  const parsed = parsePlan(
    steps.map((step) => ({ ...step, tool: "noop", arguments: { value: 1 } })),
    { limits: { maxSteps: 100_000, maxBytes: 64 * 1_048_576 }, policy: { maxParallel: 64 } },
  );
  if (!parsed.ok) throw new TypeError(JSON.stringify(parsed.diagnostics));
  return parsed.plan;
}

const diamond = planOf([
  { id: "a", dependsOn: [] },
  { id: "b", dependsOn: ["a"] },
  { id: "c", dependsOn: ["a"] },
  { id: "d", dependsOn: ["a"] },
  { id: "e", dependsOn: ["b", "c", "d"] },
]);
const chain = planOf(
  ["a", "b", "c", "d", "e"].map((id, index, all) => ({
    id,
    dependsOn: all.slice(Math.max(0, index - 1), index),
  })),
);
const wide = (count: number): Plan =>
  planOf(Array.from({ length: count }, (_, index) => ({ id: `s${index}`, dependsOn: [] })));

interface Submitted {
  planId: PlanId;
  requestId: RequestId;
}

async function submit(plan: Plan): Promise<Submitted> {
  const submitted = await store.submitPlan({
    tenant: TENANT,
    query: null,
    plan,
    raw: "",
    diagnostics: [],
    autoExecute: false,
  });
  return { planId: submitted.plan._id, requestId: submitted.request._id };
}

/** From executePlan to a terminal state, as a change stream sees it: no polling in the figures. */
const finished = new Map<string, () => void>();
const changes = client
  .db()
  .collection("plans")
  .watch([{ $match: { "updateDescription.updatedFields.finishedAt": { $type: "date" } } }]);
changes.on("change", (change) => {
  if (!("documentKey" in change)) return;
  const id = String(change.documentKey?._id);
  finished.get(id)?.();
  finished.delete(id);
});

async function execute({ planId, requestId }: Submitted): Promise<number> {
  const startedAt = performance.now();
  const end = new Promise<void>((resolve) => finished.set(planId, resolve));
  const queued = await store.queuePlan(TENANT, planId, requestId);
  if (queued) queues.offerExecution(planId, queued.epoch);
  await end;
  return performance.now() - startedAt;
}

/** Runs all plans with at most `inFlight` under way. */
async function measure(plan: Plan, count: number, inFlight: number) {
  const ids: Submitted[] = [];
  for (let index = 0; index < count; index += 1) ids.push(await submit(plan));
  const durations: number[] = [];
  const cpuBefore = cpuSeconds();
  const startedAt = performance.now();
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      for (let id = ids.pop(); id !== undefined; id = ids.pop()) durations.push(await execute(id));
    }),
  );
  const seconds = (performance.now() - startedAt) / 1_000;
  const cpuAfter = cpuSeconds();
  const sorted = durations.toSorted((a, b) => a - b);
  const at = (share: number): number =>
    Math.round((sorted[Math.floor(share * (sorted.length - 1))] ?? 0) * 10) / 10;
  return {
    plans: count,
    inFlight,
    stepsPerSecond: Math.round((count * plan.steps.length) / seconds),
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    cpuMsPerPlan: cpuMsPerPlan(cpuBefore, cpuAfter, count),
  };
}

/** Unordered majority updates of a step's size: what the database gives at the best. */
async function ceiling(batch: number): Promise<number> {
  const collection = client
    .db()
    .collection<{ _id: number }>("ceiling", { writeConcern: { w: "majority", journal: true } });
  await collection.insertMany(
    Array.from({ length: batch }, (_, _id) => ({ _id, epoch: 1, status: "PENDING" })),
  );
  const startedAt = performance.now();
  let writes = 0;
  while (performance.now() - startedAt < 3_000) {
    await collection.bulkWrite(
      Array.from({ length: batch }, (_, _id) => ({
        updateOne: {
          filter: { _id, epoch: 1 },
          update: {
            $set: {
              status: "COMPLETED",
              output: { value: 1 },
              writeId: `w${writes + _id}`,
              updatedAt: new Date(),
            },
          },
        },
      })),
      { ordered: false },
    );
    writes += batch;
  }
  await collection.drop();
  return Math.round(writes / ((performance.now() - startedAt) / 1_000));
}

const results: Record<string, unknown> = {};
/** Measures unless `--only` names others. */
async function note(name: string, measuring: () => Promise<object>): Promise<void> {
  if (values.only && !values.only.includes(name)) return;
  results[name] = await measuring();
  console.error(name, JSON.stringify(results[name]));
}
await note("ceilingUpdatesPerSecond", async () => ({
  batch64: await ceiling(64),
  batch256: await ceiling(256),
}));
const stopFirst = await startExecutor();
await measure(diamond, 50, 8); // warms up
await note("diamondAlone", () => measure(diamond, 100, 1));
await note("diamond", () => measure(diamond, PLANS, IN_FLIGHT));
await note("chain", () => measure(chain, PLANS, IN_FLIGHT));
await note("wide1000", () => measure(wide(1_000), 1, 1));
await note("wide10000", () => measure(wide(10_000), 1, 1));
const others = [await startExecutor(), await startExecutor(), await startExecutor()];
await note("diamondFourExecutors", () => measure(diamond, PLANS, IN_FLIGHT));
await Promise.all([stopFirst, ...others].map((stop) => stop()));

if (values.json) console.log(JSON.stringify(results));
else console.table(results);
await changes.close();
await client.close();
await queues.close();
await store.close();
await Promise.all([mongo.kill(), redis.kill()]);
await rm(folder, { recursive: true, force: true });
