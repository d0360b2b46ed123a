import { randomUUID } from "node:crypto";
import type { Plan, PlanId, RequestId } from "@planwright/plan";
import { createQueues } from "@planwright/queue";
import { createStore, type Store } from "@planwright/store";
import { MongoClient } from "mongodb";
import { type ServiceProcess, startService } from "../servers/servers.ts";
import { cpuMsPerPlan, cpuSeconds, latenciesOf, type ProcessNames, rounded } from "./figures.ts";

/** Options of {@link openBenchSystem}. */
interface BenchSystemOptions {
  /** With the name of a separate database. */
  mongodbUrl: string;
  redisUrl: string;
  serversFile: string;
  /** Prefix of its keys in Redis. Default: the one of the executor. */
  queuePrefix?: string;
  /** Additional settings of its executors. */
  env?: Record<string, string>;
}

/** The figures of a run of plans. */
interface Measured {
  plans: number;
  inFlight: number;
  stepsPerSecond: number;
  p50Ms: number;
  p99Ms: number;
  writesPerPlan: number;
  acknowledgementsPerPlan: number;
  cpuMsPerPlan: Record<string, number>;
}

/** A database and a queue with their own executors. */
interface BenchSystem {
  client: MongoClient;
  store: Store;
  startExecutor(): Promise<ServiceProcess>;
  /** Runs a plan `count` times, with at most `inFlight` at a time. */
  measure(plan: Plan, count: number, inFlight: number): Promise<Measured>;
  close(): Promise<void>;
}

interface Submitted {
  planId: PlanId;
  requestId: RequestId;
}

const TENANT = "bench";
const PROCESSES: ProcessNames = [
  ["mongod", "mongod"],
  ["redis-server", "redis"],
  ["counting-tool-server", "tools"],
  ["executor/src/main", "executor"],
];

/** Opens a system on running servers. */
export async function openBenchSystem(options: BenchSystemOptions): Promise<BenchSystem> {
  const { mongodbUrl, redisUrl, queuePrefix } = options;
  const store = await createStore({ url: mongodbUrl });
  const queues = createQueues({ redisUrl, ...(queuePrefix !== undefined && { prefix: queuePrefix }) });
  const client = await MongoClient.connect(mongodbUrl);

  /**
   * Resolves when a plan has ended, as a change stream reports it, so that the figures contain no polling.
   */
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

  async function execute({ planId, requestId }: Submitted): Promise<number> {
    const startedAt = performance.now();
    const end = new Promise<void>((resolve) => finished.set(planId, resolve));
    const queued = await store.queuePlan(TENANT, planId, requestId);
    if (queued) queues.offerExecution(queued);
    await end;
    return performance.now() - startedAt;
  }

  return {
    client,
    store,
    startExecutor: () =>
      startService("executor", "source", {
        MONGODB_URL: mongodbUrl,
        REDIS_URL: redisUrl,
        MCP_SERVERS_FILE: options.serversFile,
        ...(queuePrefix !== undefined && { QUEUE_PREFIX: queuePrefix }),
        ...options.env,
      }),
    async measure(plan, count, inFlight) {
      const ids: Submitted[] = [];
      for (let index = 0; index < count; index += 1) ids.push(await submit(plan));
      const durations: number[] = [];
      const cpuBefore = cpuSeconds(PROCESSES);
      const writesBefore = await writeCounts(client);
      const startedAt = performance.now();
      await Promise.all(
        Array.from({ length: inFlight }, async () => {
          for (let id = ids.pop(); id !== undefined; id = ids.pop()) durations.push(await execute(id));
        }),
      );
      const seconds = (performance.now() - startedAt) / 1_000;
      const cpuAfter = cpuSeconds(PROCESSES);
      const writesAfter = await writeCounts(client);
      const { p50Ms, p99Ms } = latenciesOf(durations);
      return {
        plans: count,
        inFlight,
        stepsPerSecond: Math.round((count * plan.steps.length) / seconds),
        p50Ms,
        p99Ms,
        writesPerPlan: rounded((writesAfter.updates - writesBefore.updates) / count, 1),
        acknowledgementsPerPlan: rounded((writesAfter.commands - writesBefore.commands) / count, 1),
        cpuMsPerPlan: cpuMsPerPlan(cpuBefore, cpuAfter, count),
      };
    },
    async close() {
      await changes.close();
      await client.close();
      await queues.close();
      await store.close();
    },
  };
}

/** An update like that of a step's result, with the same kinds and sizes of fields. */
function resultOf(index: number) {
  const now = new Date();
  const attempt = { attempt: 1, attemptId: randomUUID(), executor: "host:12345:abcdef01" };
  const end = { startedAt: now, endedAt: now, durationMs: 1, outcome: "completed", error: null };
  return {
    status: "COMPLETED",
    attempts: [{ ...attempt, ...end }],
    arguments: { value: 1 },
    argsHash: "0".repeat(64),
    output: { tool: "noop", value: 1 },
    writeId: `${attempt.attemptId}:${index}`,
    finishedAt: now,
    updatedAt: now,
  };
}

/**
 * Unordered bulk updates per second, majority and journalled, of the size of a step's result: the maximum of
 * MongoDB on this machine when nothing else uses it.
 */
export async function ceiling(client: MongoClient, bulkSize: number, forMs = 3_000): Promise<number> {
  const collection = client
    .db()
    .collection<{ _id: string }>("ceiling", { writeConcern: { w: "majority", journal: true } });
  const ids = Array.from(
    { length: bulkSize },
    (_, index) => `plan_1700000000_aaaaaaaaaaaaaaaaaaaa/s${index}`,
  );
  await collection.insertMany(ids.map((_id) => ({ _id, epoch: 1, status: "PENDING" })));
  const startedAt = performance.now();
  let writes = 0;
  while (performance.now() - startedAt < forMs) {
    const updates = ids.map((_id, index) => ({
      updateOne: { filter: { _id, epoch: 1 }, update: { $set: resultOf(writes + index) } },
    }));
    await collection.bulkWrite(updates, { ordered: false });
    writes += bulkSize;
  }
  const seconds = (performance.now() - startedAt) / 1_000;
  await collection.drop();
  return Math.round(writes / seconds);
}

/** Number of updates that the server has done since its start, and of the commands that requested them. */
async function writeCounts(client: MongoClient): Promise<{ updates: number; commands: number }> {
  const status = await client.db("admin").command({ serverStatus: 1 });
  const { bulkWrite, update, findAndModify } = status["metrics"].commands;
  return {
    updates: Number(status["opcounters"].update) + Number(findAndModify.total),
    commands: Number(bulkWrite.total) + Number(update.total) + Number(findAndModify.total),
  };
}
