import { createPartialAnswerReader, createQueues } from "@planwright/queue";
import {
  createAddressGuard,
  createFailpoints,
  createGuardedFetch,
  createJournalMetrics,
  createLogger,
  createMetrics,
  createShutdown,
  type FailpointNames,
  logFactsOfId,
  readOrExit,
  settingsOrExit,
  startTracing,
  workerName,
} from "@planwright/runtime";
import { createStore, type Store } from "@planwright/store";
import { isLoopback } from "./access/gate.ts";
import { ApiSettingsSchema, tokenSettings } from "./env.ts";
import { createRateLimit } from "./load/tenant-limits.ts";
import type { WorkOffers } from "./operation/context.ts";
import { startApi } from "./start-api.ts";

/** Failpoints before and after writes to MongoDB. */
const STORE_FAILPOINTS = {
  createRequest: "api.accept",
  submitPlan: "api.submit",
  queuePlan: "api.queue",
  requestCancel: "api.cancel",
} as const satisfies FailpointNames<Store>;

/** Failpoints around hints to planners and executors. */
const OFFER_FAILPOINTS = {
  offerPlanning: "api.offer-planning",
  offerExecution: "api.offer-execution",
} as const satisfies FailpointNames<WorkOffers>;

const settings = settingsOrExit(ApiSettingsSchema, process);
const tokens = await readOrExit(() => tokenSettings(settings), process);
const fetchKeySet = createGuardedFetch(createAddressGuard(settings.OUTBOUND_ADDRESSES));
const logger = createLogger({ service: "api", level: settings.LOG_LEVEL });
const shutdown = createShutdown({ logger, timeoutMs: settings.SHUTDOWN_TIMEOUT_MS });
const tracing = await readOrExit(
  () => startTracing({ service: "api", instance: workerName(), env: process.env, logger }),
  process,
);

const failpoints = createFailpoints(settings.FAILPOINT, STORE_FAILPOINTS, OFFER_FAILPOINTS);

const registry = createMetrics("api");
const store = failpoints.around(
  await readOrExit(
    () =>
      createStore({
        url: settings.MONGODB_URL,
        timeoutMs: settings.MONGODB_TIMEOUT_MS,
        journalMetrics: createJournalMetrics(registry),
      }),
    process,
  ),
  STORE_FAILPOINTS,
);
const redis = { redisUrl: settings.REDIS_URL, prefix: settings.QUEUE_PREFIX };
const queues = createQueues({
  ...redis,
  onError: (error, id) =>
    logger.warn({ err: error, ...logFactsOfId(id) }, "queue error; the sweepers find the work"),
});
const rateLimit =
  settings.REQUESTS_PER_MINUTE === 0
    ? undefined
    : createRateLimit({
        perMinute: settings.REQUESTS_PER_MINUTE,
        redis: { url: settings.REDIS_URL, prefix: settings.QUEUE_PREFIX },
      });
const partialAnswers = createPartialAnswerReader(redis);
const api = await startApi({
  store,
  partialAnswers,
  offers: failpoints.around(queues, OFFER_FAILPOINTS),
  logger,
  registry,
  traces: tracing.traces,
  traceUrlTemplate: settings.TRACE_URL_TEMPLATE,
  host: settings.HOST,
  ports: settings.PORTS ?? [settings.PORT],
  tenant: settings.TENANT,
  anonymous: settings.ANONYMOUS,
  tokens: tokens && { ...tokens, fetch: fetchKeySet },
  rateLimit,
  introspection: (settings.INTROSPECTION ?? (isLoopback(settings.HOST) ? "on" : "off")) === "on",
  maxPendingMutations: settings.MAX_PENDING_MUTATIONS,
  maxPendingQueries: settings.MAX_PENDING_QUERIES,
  maxUnfinishedPlans: settings.MAX_UNFINISHED_PLANS,
  maxTotalUnfinishedPlans: settings.MAX_TOTAL_UNFINISHED_PLANS,
  maxStepTimeoutMs: settings.MAX_STEP_TIMEOUT_MS,
  modelLimits: {
    maxModelCalls: settings.REQUEST_MAX_MODEL_CALLS,
    maxTokens: settings.REQUEST_MAX_TOKENS,
    maxCostUsd: settings.REQUEST_MAX_COST_USD ?? null,
  },
  maxSubscriptions: settings.MAX_SUBSCRIPTIONS,
  maxTotalSubscriptions: settings.MAX_TOTAL_SUBSCRIPTIONS,
  maxConnections: settings.MAX_CONNECTIONS,
  maxModelCallsPerHour: settings.MAX_MODEL_CALLS_PER_HOUR,
  maxAnswerBytes: settings.ANSWER_MAX_BYTES,
  inlineOutputBytes: settings.OUTPUT_INLINE_MAX_BYTES,
  largeAnswersBytes: settings.LARGE_ANSWERS_BYTES,
  requestTimeoutMs: settings.REQUEST_TIMEOUT_MS,
  allowedOrigins: settings.CORS_ORIGINS,
  graphiql: (settings.GRAPHIQL ?? (isLoopback(settings.HOST) ? "on" : "off")) === "on",
  mcp: settings.MCP === "on" ? { hosts: settings.MCP_HOSTS } : undefined,
});

shutdown.add("http", () => api.close());
shutdown.add("rate limit", () => rateLimit?.close());
shutdown.add("partial answers", () => partialAnswers.close());
shutdown.add("queues", () => queues.close());
shutdown.add("store", () => store.close());
shutdown.add("traces", () => tracing.stop());
logger.info({ ports: api.ports, url: api.url }, "api ready");
