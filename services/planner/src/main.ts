import { createDrafter } from "@planwright/models";
import { createOfflineDrafter } from "@planwright/offline";
import { resolvePolicy } from "@planwright/plan";
import { createQueues, createQueueWorker, createSweeper } from "@planwright/queue";
import {
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
import { createStore, type PlanningClaim } from "@planwright/store";
import { PlannerSettingsSchema } from "./env.ts";
import { MODEL_FAILPOINTS, OFFER_FAILPOINTS, STORE_FAILPOINTS } from "./failpoints.ts";
import { createHeldRequests } from "./jobs/held-requests.ts";
import { createPlanRequest } from "./jobs/plan-request.ts";
import { createPlanningRuns } from "./jobs/planning-runs.ts";
import { createPlanningWork } from "./jobs/planning-work.ts";
import { createPlannerMetrics } from "./metrics/planner-metrics.ts";
import { countRuns } from "./metrics/run-metrics.ts";
import { readPrices } from "./read-prices.ts";
import { createPlanningTraces } from "./tracing/planning-traces.ts";
import { traceModelCalls } from "./tracing/trace-model-calls.ts";

const settings = settingsOrExit(PlannerSettingsSchema, process);
const planDrafter = await readOrExit(() => createDrafter(settings, createOfflineDrafter), process);
const prices = await readOrExit(() => readPrices(settings), process);
const logger = createLogger({ service: "planner", level: settings.LOG_LEVEL });
const shutdown = createShutdown({ logger, timeoutMs: settings.SHUTDOWN_TIMEOUT_MS + 5_000 });
const report = (error: unknown, id?: string): void =>
  logger.warn({ err: error, ...idFacts(id) }, "queue trouble; the sweeper goes on");
const tracing = await readOrExit(
  () => startTracing({ service: "planner", env: process.env, logger }),
  process,
);
const traces = tracing.traces && createPlanningTraces(tracing.traces);

const failpoints = createFailpoints(settings.FAILPOINT, STORE_FAILPOINTS, MODEL_FAILPOINTS, OFFER_FAILPOINTS);

const drafter = failpoints.around(planDrafter, MODEL_FAILPOINTS);
const registry = createMetrics("planner");
const database = await readOrExit(
  () => createStore({ url: settings.MONGODB_URL, journalMetrics: createJournalMetrics(registry) }),
  process,
);
const store = failpoints.around(database, STORE_FAILPOINTS);

const metrics = createPlannerMetrics(registry);
let isStarted = false;
const health = await createHealthServer({
  host: settings.HOST,
  port: settings.HEALTH_PORT,
  checks: {
    mongodb: () => store.ping(),
    start: async () => {
      if (!isStarted) throw new Error("it does not take requests yet");
    },
  },
  metrics: registry,
  stopping: shutdown.signal,
});
const queues = createQueues({
  redisUrl: settings.REDIS_URL,
  prefix: settings.QUEUE_PREFIX,
  onError: report,
});
const offers = failpoints.around(queues, OFFER_FAILPOINTS);

/** What every line about a request says. */
const logFacts = ({ request }: PlanningClaim) => ({ requestId: request._id, ...traces?.logFacts(request) });
const policy = resolvePolicy({ replannedEffects: settings.REPLANNED_EFFECTS });

const heartbeat = await startHeartbeat({
  workers: store,
  name: workerName(),
  kind: "planner",
  hasModel: drafter.name !== "offline",
  place: workerPlace(health.url),
  deadAfterMs: settings.DEAD_AFTER_MS,
  onDead: () => held.loseAll(),
  logger,
});
const held = createHeldRequests({
  store,
  liveness: heartbeat,
  lookEveryMs: settings.DEAD_AFTER_MS / 3,
  onError: (error) =>
    logger.warn({ err: error }, "held requests were not looked at; the next look tries again"),
});
const planRequest = createPlanRequest({
  held,
  work: createPlanningWork({
    store: traceModelCalls(store, traces),
    drafter,
    prices,
    policy,
    catalogueWaitMs: settings.CATALOGUE_WAIT_MS,
    metrics: metrics.models,
    onReuse: (claim, call) =>
      logger.info({ ...call, ...logFacts(claim) }, "an earlier planner's answer is used, no call is made"),
  }),
  offerExecution: (planId, epoch) => offers.offerExecution(planId, epoch),
  onClaim(claim) {
    const { work, takenFrom } = claim.request.planning;
    const facts = { ...logFacts(claim), epoch: claim.epoch };
    logger.info({ ...facts, work: work ?? "plan" }, "request claimed");
    if (typeof takenFrom === "string")
      logger.warn(
        { ...facts, from: takenFrom },
        "request taken over from a planner that did not give it back",
      );
  },
  onLost: (claim) =>
    logger.warn({ epoch: claim.epoch, code: "LEASE_LOST", ...logFacts(claim) }, "lease lost"),
  onEnd(claim, result) {
    const facts = logFacts(claim);
    if (result.type === "planned") logger.info({ ...facts, planId: result.plan._id }, "planned");
    if (result.type === "answered") logger.info(facts, "answered");
    if (result.type === "failed")
      logger.warn({ ...facts, code: result.code, reason: result.message }, "not planned");
  },
  traces,
});
const runs = createPlanningRuns({
  planRequest: countRuns(planRequest, metrics.runs),
  maxRequests: settings.MAX_REQUESTS,
});

const worker = await createQueueWorker({
  redisUrl: settings.REDIS_URL,
  prefix: settings.QUEUE_PREFIX,
  queue: "planning",
  concurrency: settings.MAX_REQUESTS,
  handle: (requestId) => runs.take(requestId),
  onError: report,
});
const sweeper = createSweeper({
  everyMs: settings.SWEEP_EVERY_MS,
  find: (limit) => store.findUnplanned(limit),
  capacity: () => runs.capacity(),
  handle: (requestId) => runs.take(requestId),
  onError: (error, requestId) =>
    logger.warn({ err: error, requestId }, "a sweep failed; the next one tries again"),
});
// Past the failpoints: a reader changes nothing.
registerQueueDepth(registry, {
  service: "planner",
  countWaiting: () => worker.countWaiting(),
  due: {
    what: "requests",
    help: "Requests in MongoDB that wait for a planner and that no planner holds",
    find: (limit) => database.findUnplanned(limit),
  },
});
isStarted = true;

shutdown.add("worker", () => heartbeat.retire());
shutdown.add("requests", () => runs.drain(settings.SHUTDOWN_TIMEOUT_MS));
// Behind the requests: what this process holds is its own as long as it is heard.
shutdown.add("heartbeat", () => heartbeat.stop());
shutdown.add("held", () => held.end());
shutdown.add("sweeper", () => sweeper.stop());
shutdown.add("queue", () => worker.close());
shutdown.add("offers", () => queues.close());
shutdown.add("health", () => health.close());
shutdown.add("store", () => store.close());
shutdown.add("traces", () => tracing.stop());
logger.info({ health: health.url, model: drafter.name }, "planner ready");
