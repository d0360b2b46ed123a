import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { createDrafter } from "@planwright/models";
import { createQueues, createQueueWorker, createSweeper } from "@planwright/queue";
import {
  createFailpoints,
  createHealthServer,
  createLogger,
  createShutdown,
  parseSettings,
} from "@planwright/runtime";
import { createStore } from "@planwright/store";
import { PlannerSettingsSchema } from "./env.ts";
import { FAILPOINTS, MODEL_FAILPOINTS, OFFER_FAILPOINTS, STORE_FAILPOINTS } from "./failpoints.ts";
import { createPlanningGraph } from "./graph/planning-graph.ts";
import { createPlanRequest } from "./jobs/plan-request.ts";
import { createPlanningRuns } from "./jobs/planning-runs.ts";

const settings = parseSettings(PlannerSettingsSchema, process.env);
const logger = createLogger({ service: "planner", level: settings.LOG_LEVEL });
const shutdown = createShutdown({ logger, timeoutMs: settings.SHUTDOWN_TIMEOUT_MS + 5_000 });
const report = (error: unknown): void => logger.warn({ err: error }, "queue trouble; the sweeper goes on");

const failpoints = createFailpoints(settings.FAILPOINT, FAILPOINTS);

const drafter = failpoints.around(createDrafter(settings), MODEL_FAILPOINTS);
const store = failpoints.around(
  await createStore({ url: settings.MONGODB_URL, planningLeaseMs: settings.PLANNING_LEASE_MS }),
  STORE_FAILPOINTS,
);
const queues = createQueues({
  redisUrl: settings.REDIS_URL,
  prefix: settings.QUEUE_PREFIX,
  onError: report,
});
const offers = failpoints.around(queues, OFFER_FAILPOINTS);

const planRequest = createPlanRequest({
  store,
  graph: createPlanningGraph({ store, drafter }),
  offerExecution: (planId, epoch) => offers.offerExecution(planId, epoch),
  owner: `${hostname()}:${process.pid}:${randomUUID().slice(0, 8)}`,
  renewEveryMs: settings.PLANNING_LEASE_MS / 3,
  onRenewalFailed: (claim, error) =>
    logger.warn({ err: error, requestId: claim.request._id }, "lease not renewed"),
});
const runs = createPlanningRuns({
  planRequest,
  maxRequests: settings.MAX_REQUESTS,
  onEnd: (requestId, result) => {
    if (result.type === "planned") logger.info({ requestId, planId: result.plan._id }, "planned");
    if (result.type === "failed") logger.info({ requestId, code: result.code }, "not planned");
  },
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
  onError: (error) => logger.warn({ err: error }, "a sweep failed; the next one tries again"),
});
const health = await createHealthServer({
  host: settings.HOST,
  port: settings.HEALTH_PORT,
  checks: { mongodb: () => store.ping() },
  stopping: shutdown.signal,
});

shutdown.add("requests", () => runs.drain(settings.SHUTDOWN_TIMEOUT_MS));
shutdown.add("sweeper", () => sweeper.stop());
shutdown.add("queue", () => worker.close());
shutdown.add("offers", () => queues.close());
shutdown.add("health", () => health.close());
shutdown.add("store", () => store.close());
logger.info({ health: health.url, model: drafter.name }, "planner ready");
