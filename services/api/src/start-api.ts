import type { IncomingMessage, ServerResponse } from "node:http";
import type { PartialAnswerReader, Queues } from "@planwright/queue";
import {
  createAddressGuard,
  createGuardedFetch,
  createHealthHandler,
  createMetrics,
  type FailpointNames,
  type Registry,
  type Role,
  type RoleOptions,
  type RoleParts,
  type Traces,
  VERSION,
} from "@planwright/runtime";
import type {
  AccessStore,
  ClientStore,
  LiveStore,
  ModelLimits,
  Store,
  StoreOptions,
  TenantStore,
  WorkerStore,
} from "@planwright/store";
import { createCredentialWatch } from "./access/credential-watch.ts";
import {
  type Anonymous,
  type Caller,
  createAuthenticate,
  createGate,
  isLoopback,
  type TokenSettings,
} from "./access/gate.ts";
import { type ApiSettings, readApiSettings } from "./env.ts";
import { createFormatError, createSendRefusal } from "./errors/format-error.ts";
import { type ApiLogger, type ApiMetrics, createApiMetrics, createOperation } from "./errors/telemetry.ts";
import { createRequestFeeds } from "./feeds/request-feeds.ts";
import { createApolloServer } from "./graphql/apollo-server.ts";
import { createPipeline } from "./graphql/pipeline.ts";
import { serveServerSentEvents } from "./graphql/server-sent-events.ts";
import { createSubscriptions } from "./graphql/subscriptions.ts";
import { serveWebSockets } from "./graphql/web-sockets.ts";
import { createApp } from "./http/app.ts";
import { serveGraphiql } from "./http/graphiql-page.ts";
import { createHttpServer, cutWhenStuck, listen } from "./http/http-server.ts";
import { serveOutputs } from "./http/serve-outputs.ts";
import { serveSignInCallback } from "./http/sign-in-callback.ts";
import { createAdmission } from "./load/admission.ts";
import { type AnswerLimits, createByteBudget, createPace } from "./load/answer-bytes.ts";
import { createRateLimit, createTenantLimits, type RateLimit } from "./load/tenant-limits.ts";
import { serveMcp } from "./mcp/serve-mcp.ts";
import {
  createContext,
  createKnownTools,
  createOpenCalls,
  type GraphqlContext,
  type WorkOffers,
} from "./operation/context.ts";
import { readAtMostOnceASecond } from "./operation/fleet-view.ts";
import { createSchema } from "./resolvers/executable-schema.ts";

/** Dependencies of the service. */
export interface ApiDependencies {
  store: ClientStore &
    LiveStore &
    AccessStore &
    Pick<TenantStore, "readTenantLimits" | "modelCallsPausedUntil"> &
    Pick<WorkerStore, "liveWorkers" | "isModelMissing" | "readFleet"> & { ping(): Promise<void> };
  offers: WorkOffers;
  /** Answers of models while they arrive. Default: they are shown when they are complete. */
  partialAnswers?: Pick<PartialAnswerReader, "read"> | undefined;
  logger: ApiLogger;
  /** Registry of `/metrics`, which may have other metrics. Default: a new one with the metrics of Node. */
  registry?: Registry | undefined;
  host: string;
  /** At least one; all ports serve the same service. 0: a free port. */
  ports: readonly number[];
  /** Tenant of callers without a credential. */
  tenant: string;
  /**
   * Who may call without a credential. Default "loopback": callers of a service that is bound to loopback,
   * otherwise none.
   */
  anonymous?: Anonymous | undefined;
  /** Tokens that are accepted besides API keys. Default: none. */
  tokens?: TokenSettings | undefined;
  /** Limits the operations of each credential. Default: no limit. */
  rateLimit?: Pick<RateLimit, "count"> | undefined;
  introspection: boolean;
  /** Most mutations that run at once. Default 200. */
  maxPendingMutations?: number | undefined;
  /** Most queries that run at once; more wait for 2 s, then they are refused. Default 32. */
  maxPendingQueries?: number | undefined;
  /**
   * Most unfinished plans and planning requests of a tenant for which no limit was set, over all services.
   * Default 100,000.
   */
  maxUnfinishedPlans?: number | undefined;
  /** The same for all tenants together. Default 1,000,000. */
  maxTotalUnfinishedPlans?: number | undefined;
  /** Limits of model calls for one request; clients may set lower ones. Default: no limits. */
  modelLimits?: ModelLimits | undefined;
  /** Highest timeoutMs of a step, in milliseconds. Default 600,000. */
  maxStepTimeoutMs?: number | undefined;
  /** Most open subscriptions of a tenant for which no limit was set. Default 10,000. */
  maxSubscriptions?: number | undefined;
  /** The same for all tenants together. Default 50,000. */
  maxTotalSubscriptions?: number | undefined;
  /** Most WebSocket connections of a tenant for which no limit was set. Default 1,000. */
  maxConnections?: number | undefined;
  /**
   * Most model calls within an hour of a tenant for which no limit was set, as the planners have it: shown where
   * planning waits. Default 5,000.
   */
  maxModelCallsPerHour?: number | undefined;
  /** Largest answer, in bytes. Default 8 MiB. */
  maxAnswerBytes?: number | undefined;
  /** Larger outputs are sent as references, in bytes of JSON. Default 64 KiB. */
  inlineOutputBytes?: number | undefined;
  /**
   * Memory for all large answers together, in bytes, from the first read until they are sent. Default 128
   * MiB.
   */
  largeAnswersBytes?: number | undefined;
  /**
   * How long a client may read nothing of an answer, or leave a WebSocket ping unanswered, in milliseconds;
   * then its connection is closed. Default 30,000.
   */
  sendTimeoutMs?: number | undefined;
  /**
   * Time for a complete request to arrive, in milliseconds; its headers have at most 10,000. Default 30,000.
   */
  requestTimeoutMs?: number | undefined;
  /** Serves MCP at /mcp under these host names besides loopback. Default: /mcp is not served. */
  mcp?: { hosts: readonly string[] } | undefined;
  /** Serves the GraphiQL editor at /graphiql. Default false. */
  graphiql?: boolean | undefined;
  /** Makes the spans of operations. Default: no tracing. */
  traces?: Traces | undefined;
  /**
   * Address of the web page of a trace, with `{traceId}` in place of its id. Default: traces have no address.
   */
  traceUrlTemplate?: string | undefined;
  /** Other origins whose pages may connect, such as "https://ops.example.org". Default: none. */
  allowedOrigins?: readonly string[] | undefined;
}

/** A running service. */
export interface Api {
  /** Address of the GraphQL endpoint, at the first port. */
  url: string;
  /** In the order of the given ports. */
  ports: number[];
  /** Refuses new work, ends waits with the current state, finishes running answers. Safe to call twice. */
  close(): Promise<void>;
}

/** What differs between the transports of an operation. */
interface ContextOptions {
  /** Aborted when the client disconnects. Default: never. */
  signal?: AbortSignal;
  limits?: AnswerLimits;
  /** Counts the operation. Default: with its duration. */
  answered?: ApiMetrics["answered"];
}

/** Serves the API; resolves when it listens. */
export async function serveApi(dependencies: ApiDependencies): Promise<Api> {
  const { store, offers, tenant, modelLimits, maxStepTimeoutMs, logger, allowedOrigins = [] } = dependencies;
  const stopping = new AbortController();
  const calls = createOpenCalls();
  const httpServers = dependencies.ports.map(() => createHttpServer(dependencies));
  const registry = dependencies.registry ?? createMetrics("api");
  const metrics = createApiMetrics(registry, {
    subscriptions: () => feeds.size(),
    largeAnswersBytes: () => answers.budget.heldBytes(),
  });
  const limitsOf = createTenantLimits({
    store,
    defaults: {
      maxUnfinishedPlans: dependencies.maxUnfinishedPlans ?? 100_000,
      maxSubscriptions: dependencies.maxSubscriptions ?? 10_000,
      maxConnections: dependencies.maxConnections ?? 1_000,
      maxModelCallsPerHour: dependencies.maxModelCallsPerHour ?? 5_000,
    },
  });
  const admission = createAdmission({
    metrics,
    maxPendingMutations: dependencies.maxPendingMutations ?? 200,
    maxPendingQueries: dependencies.maxPendingQueries ?? 32,
    maxUnfinishedPlans: dependencies.maxTotalUnfinishedPlans ?? 1_000_000,
    maxUnfinishedPlansOf: async (name) => (await limitsOf(name)).maxUnfinishedPlans,
    countUnfinished: (limit, name) => store.countUnfinished(limit, name),
  });
  const maxTotalSubscriptions = dependencies.maxTotalSubscriptions ?? 50_000;
  const answers: AnswerLimits = {
    maxBytes: dependencies.maxAnswerBytes ?? 8 * MIB,
    inlineBytes: dependencies.inlineOutputBytes ?? 65_536,
    budget: createByteBudget({ maxBytes: dependencies.largeAnswersBytes ?? 128 * MIB, metrics }),
    pace: createPace(),
  };
  const feeds = createRequestFeeds({
    store,
    logger,
    metrics,
    maxReaders: maxTotalSubscriptions,
    maxReadersOf: async (name) => (await limitsOf(name)).maxSubscriptions,
  });
  // A worker that has just started is not told as missing.
  const liveWorkers = readAtMostOnceASecond(
    () => store.liveWorkers(),
    ({ planner, executor }) => planner === 0 || executor === 0,
  );
  const readFleet = readAtMostOnceASecond(() => store.readFleet());
  const knownTools = createKnownTools(store);
  const context = (
    caller: Caller,
    { signal, limits = answers, answered = metrics.answered }: ContextOptions = {},
  ): GraphqlContext =>
    createContext(
      {
        store,
        knownTools,
        offers,
        modelLimits,
        maxStepTimeoutMs,
        traceUrlTemplate: dependencies.traceUrlTemplate,
        feeds,
        answers: limits,
        signal,
        operation: createOperation(dependencies.traces, answered),
        liveWorkers,
        readFleet,
        readPartialAnswer: async (callId) => (await dependencies.partialAnswers?.read(callId)) ?? null,
        isModelMissing: () => store.isModelMissing(),
        async modelPause(name) {
          const { maxModelCallsPerHour: maxPerHour } = await limitsOf(name);
          const until = await store.modelCallsPausedUntil(name, maxPerHour);
          return until && { maxPerHour, until };
        },
      },
      caller,
      Date.now(),
    );
  const { introspection } = dependencies;
  const formatError = createFormatError(logger, { introspection });
  const pipeline = createPipeline({ schema: createSchema(), introspection, formatError, admission });
  const credentials = createCredentialWatch({ store, logger });
  const subscriptions = createSubscriptions({
    pipeline,
    credentials,
    context: (caller) => context(caller, { answered: metrics.subscriptionEnded }),
  });
  const { anonymous = "loopback", tokens, rateLimit } = dependencies;
  const sendRefusal = createSendRefusal(formatError);
  const gate = createGate({
    authenticate: createAuthenticate({
      store,
      logger,
      tenant,
      tokens,
      anonymous: anonymous === "loopback" && !isLoopback(dependencies.host) ? "refuse" : anonymous,
    }),
    rateLimit,
    metrics,
    sendRefusal,
  });
  const { sendTimeoutMs = SEND_TIMEOUT_MS } = dependencies;
  /** The context of an answer over HTTP, which lasts until its response closes. */
  const contextOf = (request: IncomingMessage, response: ServerResponse): GraphqlContext => {
    const made = context(gate.callerOf(request), { signal: calls.begin(response) });
    cutWhenStuck(response, sendTimeoutMs);
    response.once("close", () => made.bytes.release());
    return made;
  };
  const callerOf = (request: IncomingMessage): Caller => gate.callerOf(request);
  const apollo = createApolloServer({ pipeline, httpServers, logger });
  await apollo.start();
  const app = createApp({
    apollo,
    context: contextOf,
    gate,
    allowedOrigins,
    events: serveServerSentEvents({ subscriptions, callerOf, sendTimeoutMs }),
    graphiql: dependencies.graphiql ? serveGraphiql() : undefined,
    signInCallback: serveSignInCallback(store),
    outputs: serveOutputs({ context: contextOf, metrics, sendRefusal, sendTimeoutMs }),
    mcp:
      dependencies.mcp &&
      serveMcp({
        ...dependencies.mcp,
        pipeline,
        credentials,
        callerOf,
        context: (caller, signal) =>
          context(caller, { signal, limits: { ...answers, maxBytes: answers.maxBytes / 2 } }),
        logger,
      }),
    // Redis is not checked: work is accepted without it, and found by the sweepers.
    answerHealth: createHealthHandler({
      checks: { mongodb: () => store.ping() },
      // The service is ready without workers: accepted work waits for them and is not lost.
      details: async () => {
        const live = await liveWorkers();
        return {
          version: VERSION,
          missing: (["planner", "executor"] as const).filter((kind) => live[kind] === 0),
        };
      },
      metrics: registry,
      stopping: stopping.signal,
    }),
    logger,
  });
  for (const httpServer of httpServers) httpServer.on("request", app);
  const webSockets = serveWebSockets({
    httpServers,
    subscriptions,
    gate,
    allowedOrigins: new Set(allowedOrigins),
    maxConnections: maxTotalSubscriptions,
    maxConnectionsOf: async (name) => (await limitsOf(name)).maxConnections,
    sendTimeoutMs,
  });
  const ports: number[] = [];
  for (const [index, httpServer] of httpServers.entries()) {
    ports.push(await listen(httpServer, dependencies.host, dependencies.ports[index] ?? 0));
  }
  const url = `http://${dependencies.host.includes(":") ? `[${dependencies.host}]` : dependencies.host}:${ports[0]}/graphql`;
  let closed: Promise<void> | undefined;
  const close = () => {
    stopping.abort();
    calls.endAll();
    closed ??= closeAll();
    return closed;
  };
  /** Subscriptions end first: their connections would keep the servers open. */
  async function closeAll(): Promise<void> {
    await feeds.close();
    await webSockets.close();
    await apollo.stop();
  }
  return { url, ports, close };
}

const MIB = 1_048_576;
const SEND_TIMEOUT_MS = 30_000;

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

/**
 * Reads the settings of the API.
 * @throws {SettingsError}
 */
export function readApi(
  env: NodeJS.ProcessEnv,
  options?: RoleOptions,
): Role<Store, Queues, Partial<StoreOptions>> {
  const settings = readApiSettings(env, options);
  return {
    name: "api",
    settings,
    stopsFirst: true,
    failpoints: [STORE_FAILPOINTS, OFFER_FAILPOINTS],
    storeOptions: () => ({ timeoutMs: settings.MONGODB_TIMEOUT_MS }),
    start: (parts) => startApi(parts, settings),
  };
}

/** Starts the API; resolves when it listens. */
export async function startApi(parts: RoleParts<Store, Queues>, settings: ApiSettings): Promise<void> {
  const { logger, failpoints, stop } = parts;
  const { tokens } = settings;
  const fetchKeySet = createGuardedFetch(createAddressGuard(settings.OUTBOUND_ADDRESSES));
  const rateLimit =
    settings.REQUESTS_PER_MINUTE === 0
      ? undefined
      : createRateLimit({
          perMinute: settings.REQUESTS_PER_MINUTE,
          redis:
            settings.REDIS_URL === ""
              ? undefined
              : { url: settings.REDIS_URL, prefix: settings.QUEUE_PREFIX },
        });
  const partialAnswers = parts.queues.openPartialAnswerReader();
  const api = await serveApi({
    store: failpoints.around(parts.store, STORE_FAILPOINTS),
    partialAnswers,
    offers: failpoints.around(parts.queues, OFFER_FAILPOINTS),
    logger,
    registry: parts.registry,
    traces: parts.traces,
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

  stop.add("http", () => api.close());
  stop.add("rate limit", () => rateLimit?.close());
  stop.add("partial answers", () => partialAnswers.close());
  logger.info({ ports: api.ports, url: api.url }, "api ready");
}
