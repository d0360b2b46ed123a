import { createQueues, createQueueWorker, createSweeper, createToolLimits } from "@planwright/queue";
import {
  createAddressGuard,
  createFailpoints,
  createHealthServer,
  createJournalMetrics,
  createLogger,
  createMetrics,
  createShutdown,
  idFacts,
  readOrExit,
  registerQueueDepth,
  settingsOrExit,
  startHeartbeat,
  startTracing,
  workerName,
  workerPlace,
} from "@planwright/runtime";
import { createStore } from "@planwright/store";
import { createToolClients, loadServersFile } from "@planwright/tools";
import { createCataloguePublisher } from "./catalogue-publisher.ts";
import { createCatalogueReader } from "./catalogue-reader.ts";
import { ExecutorSettingsSchema } from "./env.ts";
import { JOB_FAILPOINTS, STORE_FAILPOINTS, TOOL_FAILPOINTS } from "./failpoints.ts";
import { createExecutorMetrics } from "./metrics/executor-metrics.ts";
import { registerPlansByStatus } from "./metrics/plans-by-status.ts";
import { createOutputRecorder } from "./observed-outputs/output-recorder.ts";
import { createOutputMemory } from "./output-memory.ts";
import { createPlanRuns } from "./plan-runs.ts";
import { startRetention } from "./retention.ts";
import { createSecretSource } from "./secrets/secret-source.ts";
import { createSecrets } from "./secrets/secrets.ts";
import { createServerPublisher } from "./tool-servers/server-publisher.ts";
import { createRunTraces } from "./tracing/run-traces.ts";

/** How often requests are looked for whose plan ended without their being told, in milliseconds. */
const RECONCILE_EVERY_MS = 15_000;
/** How often values of secrets are read again, in milliseconds: another executor may have sent one that was replaced. */
const LEARN_SECRETS_EVERY_MS = 30_000;

const settings = settingsOrExit(ExecutorSettingsSchema, process);
const config = await readOrExit(() => loadServersFile(settings.MCP_SERVERS_FILE, process.env), process);
const logger = createLogger({ service: "executor", level: settings.LOG_LEVEL });
const shutdown = createShutdown({ logger, timeoutMs: settings.SHUTDOWN_TIMEOUT_MS + 5_000 });
// A hint or a sweep names a plan by its id; its request is known once it is claimed, and what fails from then on is logged with both.
const report = (error: unknown, id?: string): void =>
  logger.warn({ err: error, ...idFacts(id) }, "queue trouble; the sweeper goes on");
const tracing = await readOrExit(
  () => startTracing({ service: "executor", env: process.env, logger }),
  process,
);

const name = workerName();
const failpoints = createFailpoints(settings.FAILPOINT, STORE_FAILPOINTS, TOOL_FAILPOINTS, JOB_FAILPOINTS);

const registry = createMetrics("executor");
const metrics = createExecutorMetrics(registry);
const database = await readOrExit(
  () =>
    createStore({
      url: settings.MONGODB_URL,
      planTimeoutMs: settings.PLAN_TIMEOUT_MS,
      onBulk: (writes) => metrics.bulkWritten(writes),
      journalMetrics: createJournalMetrics(registry),
    }),
  process,
);
const store = failpoints.around(database, STORE_FAILPOINTS);

/** What is still to be done before this process takes plans. */
let starting: string | null = "the tools of its servers are not published yet";
const health = await createHealthServer({
  host: settings.HOST,
  port: settings.HEALTH_PORT,
  checks: {
    mongodb: () => store.ping(),
    start: async () => {
      if (starting !== null) throw new Error(starting);
    },
  },
  metrics: registry,
  stopping: shutdown.signal,
});
logger.info({ health: health.url }, "executor starting");

await store.keepOnlyServers(Object.keys(config.mcpServers));
const catalogue = createCatalogueReader(store);
const publisher = createCataloguePublisher({ store, onPublished: () => catalogue.forget(), logger });
const servers = createServerPublisher({
  store,
  executor: name,
  logger,
});
const tools = createToolClients(config, {
  logger,
  addresses: createAddressGuard(settings.OUTBOUND_ADDRESSES),
  connectTimeoutMs: settings.CONNECT_TIMEOUT_MS,
  onCatalogue: (offered) => publisher.publish(offered),
  onStatus: (status) => servers.publish(status),
});
const secrets = createSecrets({
  source: createSecretSource({ directory: settings.SECRETS_DIR, variables: process.env }),
  servers: config.mcpServers,
  addSecrets: (server, values) => tools.addSecrets(server, values),
});
await secrets.learn();
await tools.start();
await publisher.published();
starting = "it does not take plans yet";

const limits = createToolLimits({
  redisUrl: settings.REDIS_URL,
  prefix: settings.QUEUE_PREFIX,
  leaseMs: settings.LIMIT_LEASE_MS,
  onError: (error) => logger.warn({ err: error }, "limits: Redis does not answer; limited calls wait"),
});

const offers = createQueues({
  redisUrl: settings.REDIS_URL,
  prefix: settings.QUEUE_PREFIX,
  onError: report,
});
const outputs = settings.LEARN_OUTPUTS === "on" ? createOutputRecorder({ store, logger }) : undefined;
const heartbeat = await startHeartbeat({
  workers: store,
  name,
  kind: "executor",
  place: workerPlace(health.url),
  deadAfterMs: settings.DEAD_AFTER_MS,
  onDead: () => runs.loseAll(),
  logger,
});
const runs = createPlanRuns({
  store,
  tools: failpoints.around(tools, TOOL_FAILPOINTS),
  secrets,
  limits,
  outputs,
  outputMemory: createOutputMemory({ maxBytes: settings.OUTPUT_MEMORY_BYTES, metrics: metrics.runs }),
  readCatalogue: () => catalogue.read(),
  readCatalogueNow: () => store.toolCatalogue(),
  liveness: heartbeat,
  offerPlanning: (requestId) => offers.offerPlanning(requestId),
  maxPlans: settings.MAX_PLANS,
  deadAfterMs: settings.DEAD_AFTER_MS,
  maxStepTimeoutMs: settings.MAX_STEP_TIMEOUT_MS,
  logger,
  metrics: metrics.runs,
  traces: tracing.traces && createRunTraces(tracing.traces),
});

const jobs = failpoints.around(
  {
    handle: async (planId: string) => {
      const taken = await runs.take(planId);
      await taken?.done;
    },
  },
  JOB_FAILPOINTS,
);
const worker = await createQueueWorker({
  redisUrl: settings.REDIS_URL,
  prefix: settings.QUEUE_PREFIX,
  queue: "execution",
  concurrency: settings.MAX_PLANS,
  handle: (planId) => jobs.handle(planId),
  onError: report,
});
const sweeper = createSweeper({
  everyMs: settings.SWEEP_EVERY_MS,
  find: (limit) => store.findClaimable(limit),
  capacity: () => runs.capacity(),
  handle: async (planId) => {
    await runs.take(planId);
  },
  onError: report,
});
// Seldom needed, and a look-up over all that runs: on a beat of its own, as slow as what it looks for is old.
const reconciler = setInterval(() => void store.reconcileRequests().catch(report), RECONCILE_EVERY_MS);
const secretsLearner = setInterval(() => void secrets.learn().catch(report), LEARN_SECRETS_EVERY_MS);
const retention = startRetention({
  store: database,
  keptDays: settings.RETENTION_DAYS,
  now: () => database.now(),
  logger,
  onRemoved: (count) => metrics.requestsRemoved(count),
});
// Past the failpoints: a reader changes nothing.
registerQueueDepth(registry, {
  service: "executor",
  countWaiting: () => worker.countWaiting(),
  due: {
    what: "plans",
    help: "Plans in MongoDB that are due and that no executor holds",
    find: (limit) => database.findClaimable(limit),
  },
});
registerPlansByStatus(registry, (limit) => database.countPlansByStatus(limit));
starting = null;

shutdown.add("worker", () => heartbeat.retire());
shutdown.add("retention", () => retention.stop());
shutdown.add("reconciler", () => clearInterval(reconciler));
shutdown.add("secrets", () => clearInterval(secretsLearner));
shutdown.add("sweeper", () => sweeper.stop());
shutdown.add("plans", () => runs.handOver(settings.SHUTDOWN_TIMEOUT_MS));
// Behind the plans: what this process holds is its own as long as it is heard.
shutdown.add("heartbeat", () => heartbeat.stop());
if (outputs) shutdown.add("outputs", () => outputs.stop());
shutdown.add("limits", () => limits.close());
shutdown.add("queue", () => Promise.all([worker.close(), offers.close()]));
shutdown.add("tools", () => tools.close());
shutdown.add("catalogue", () => publisher.stop());
shutdown.add("servers", () => servers.stop());
shutdown.add("health", () => health.close());
shutdown.add("store", () => store.close());
shutdown.add("traces", () => tracing.stop());
logger.info({ health: health.url, servers: tools.status() }, "executor ready");
