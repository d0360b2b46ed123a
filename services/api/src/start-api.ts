import type { IncomingMessage, ServerResponse } from "node:http";
import { createHealthHandler, createMetrics, type Registry, type Traces } from "@planwright/runtime";
import type { AccessStore, ClientStore, LiveStore, ModelLimits, WorkerStore } from "@planwright/store";
import { type Anonymous, createAuthenticate } from "./access/authenticate.ts";
import type { Caller } from "./access/caller.ts";
import { createCredentialWatch } from "./access/credential-watch.ts";
import { createGate } from "./access/gate.ts";
import { isLoopback } from "./access/loopback.ts";
import type { TokenSettings } from "./access/tokens.ts";
import { createFormatError } from "./errors/format-error.ts";
import { createSendRefusal } from "./errors/http-errors.ts";
import { createRequestFeeds } from "./feeds/request-feeds.ts";
import { serveGraphiql } from "./graphiql/serve-graphiql.ts";
import { createApolloServer } from "./graphql/apollo-server.ts";
import { createApp } from "./http/app.ts";
import { cutWhenStuck } from "./http/cut-when-stuck.ts";
import { createHttpServer, listen } from "./http/http-server.ts";
import { serveOutputs } from "./http/serve-outputs.ts";
import { createAdmission } from "./load/admission.ts";
import type { AnswerLimits } from "./load/answer-bytes.ts";
import { createByteBudget } from "./load/byte-budget.ts";
import { createPace } from "./load/pace.ts";
import type { RateLimit } from "./load/rate-limit.ts";
import { serveMcp } from "./mcp/serve-mcp.ts";
import type { WorkOffers } from "./operation/context.ts";
import { createContext, type GraphqlContext } from "./operation/context.ts";
import { createLiveWorkers } from "./operation/live-workers.ts";
import { createOpenCalls } from "./operation/open-calls.ts";
import { createSchema } from "./resolvers/executable-schema.ts";
import { serveServerSentEvents } from "./subscriptions/server-sent-events.ts";
import { serveWebSockets } from "./subscriptions/web-sockets.ts";
import type { ApiLogger } from "./telemetry/api-logger.ts";
import { createApiMetrics } from "./telemetry/api-metrics.ts";
import { createOperation } from "./telemetry/operation.ts";
import { createKnownTools } from "./tools/known-tools.ts";

/** What the service is made of. */
export interface ApiParts {
  store: ClientStore &
    LiveStore &
    AccessStore &
    Pick<WorkerStore, "liveWorkers" | "isModelMissing"> & { ping(): Promise<void> };
  offers: WorkOffers;
  logger: ApiLogger;
  /** What `/metrics` shows beside the metrics of the service. Default: those of Node. */
  registry?: Registry | undefined;
  host: string;
  /** At least one: all answer the same. 0 takes a free one. */
  ports: readonly number[];
  /** Tenant of those who ask without a credential. */
  tenant: string;
  /** Who may ask without one. Default "loopback": callers that reach a service bound to loopback, otherwise none. */
  anonymous?: Anonymous | undefined;
  /** Whose tokens are accepted beside API keys. Default: none. */
  tokens?: TokenSettings | undefined;
  /** Counts what each credential asks for. Default: nothing is counted. */
  rateLimit?: Pick<RateLimit, "count"> | undefined;
  introspection: boolean;
  /** Mutations under way at once, at most. Default 200. */
  maxPendingMutations?: number | undefined;
  /** Plans, and requests for one, that are not over, at most, counted over all services. Default 100,000. */
  maxUnfinishedPlans?: number | undefined;
  /** Most that the model calls of one request may take; clients may ask for less. Default: no limits. */
  modelLimits?: ModelLimits | undefined;
  /** Most that a step may ask for as its timeoutMs, in milliseconds. Default 600,000. */
  maxStepTimeoutMs?: number | undefined;
  /** Requests that are followed at once, at most. Default 10,000. */
  maxSubscriptions?: number | undefined;
  /** One answer holds so many bytes at most. Default 8 MiB. */
  maxAnswerBytes?: number | undefined;
  /** Outputs above this size go by reference, in bytes of JSON. Default 64 KiB. */
  inlineOutputBytes?: number | undefined;
  /** What large answers may hold together, while they are read and until they are sent. Default 128 MiB. */
  largeAnswersBytes?: number | undefined;
  /** Longest that a client may read nothing of an answer or of a WebSocket, in milliseconds; then its connection is cut. Default 30,000. */
  sendTimeoutMs?: number | undefined;
  /** Longest that a whole request may take to arrive, in milliseconds; its headers at most 10,000 of them. Default 30,000. */
  requestTimeoutMs?: number | undefined;
  /** Serves MCP at /mcp under these names beside loopback. Default: nothing is at /mcp. */
  mcp?: { hosts: readonly string[] } | undefined;
  /** Serves an editor for operations at /graphiql. Default false. */
  graphiql?: boolean | undefined;
  /** Makes the spans of operations. Default: nothing is traced. */
  traces?: Traces | undefined;
  /** Origins of pages from elsewhere that may connect, such as "https://ops.example.org". Default: none. */
  allowedOrigins?: readonly string[] | undefined;
}

/** A running service. */
export interface Api {
  /** Address of the GraphQL endpoint, at the first port. */
  url: string;
  /** In the order in which they were asked for. */
  ports: number[];
  /** Refuses new work, ends waiting calls with what is known, finishes the answers under way. Safe to call twice. */
  close(): Promise<void>;
}

/** Starts to listen; resolves when it does. */
export async function startApi(dependencies: ApiParts): Promise<Api> {
  const { store, offers, tenant, modelLimits, maxStepTimeoutMs, logger, allowedOrigins = [] } = dependencies;
  const stopping = new AbortController();
  const calls = createOpenCalls();
  const httpServers = dependencies.ports.map(() => createHttpServer(dependencies));
  const registry = dependencies.registry ?? createMetrics("api");
  const metrics = createApiMetrics(registry, {
    subscriptions: () => feeds.size(),
    largeAnswersBytes: () => answers.budget.heldBytes(),
  });
  const admission = createAdmission({
    metrics,
    maxPendingMutations: dependencies.maxPendingMutations ?? 200,
    maxUnfinishedPlans: dependencies.maxUnfinishedPlans ?? 100_000,
    countUnfinished: (limit) => store.countUnfinished(limit),
  });
  const maxSubscriptions = dependencies.maxSubscriptions ?? 10_000;
  const answers: AnswerLimits = {
    maxBytes: dependencies.maxAnswerBytes ?? 8 * MIB,
    inlineBytes: dependencies.inlineOutputBytes ?? 65_536,
    budget: createByteBudget({ maxBytes: dependencies.largeAnswersBytes ?? 128 * MIB, metrics }),
    pace: createPace(),
  };
  const feeds = createRequestFeeds({ store, logger, metrics, maxReaders: maxSubscriptions });
  const liveWorkers = createLiveWorkers(store);
  const knownTools = createKnownTools(store);
  const context = (caller: Caller, signal: AbortSignal, limits = answers): GraphqlContext =>
    createContext(
      {
        store,
        knownTools,
        offers,
        modelLimits,
        maxStepTimeoutMs,
        feeds,
        answers: limits,
        signal,
        operation: createOperation(dependencies.traces),
        liveWorkers,
        isModelMissing: () => store.isModelMissing(),
      },
      caller,
      Date.now(),
    );
  const { introspection } = dependencies;
  const protocol = {
    schema: createSchema(),
    formatError: createFormatError(logger, { introspection }),
    introspection,
    metrics,
    credentials: createCredentialWatch({ store, logger }),
  };
  const { anonymous = "loopback", tokens, rateLimit } = dependencies;
  const sendRefusal = createSendRefusal(protocol.formatError);
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
    const made = context(gate.callerOf(request), calls.begin(response));
    cutWhenStuck(response, sendTimeoutMs);
    response.once("close", () => made.bytes.release());
    return made;
  };
  const forCallers = { ...protocol, context, callerOf: (request: IncomingMessage) => gate.callerOf(request) };
  const apollo = createApolloServer({ ...protocol, httpServers, logger, admission });
  await apollo.start();
  const app = createApp({
    apollo,
    context: contextOf,
    gate,
    allowedOrigins,
    events: serveServerSentEvents({ ...forCallers, sendTimeoutMs }),
    graphiql: dependencies.graphiql ? serveGraphiql() : undefined,
    outputs: serveOutputs({ context: contextOf, metrics, sendRefusal, sendTimeoutMs }),
    mcp:
      dependencies.mcp &&
      serveMcp({
        ...dependencies.mcp,
        ...forCallers,
        context: (caller, signal) => context(caller, signal, { ...answers, maxBytes: answers.maxBytes / 2 }),
        admission,
        logger,
      }),
    // Redis is not checked: without it work is accepted all the same, and found by the sweepers.
    answerHealth: createHealthHandler({
      checks: { mongodb: () => store.ping() },
      // Accepted work waits for them and loses nothing, so the service is ready without.
      details: async () => {
        const live = await liveWorkers();
        return { missing: (["planner", "executor"] as const).filter((kind) => live[kind] === 0) };
      },
      metrics: registry,
      stopping: stopping.signal,
    }),
    logger,
  });
  for (const httpServer of httpServers) httpServer.on("request", app);
  const webSockets = serveWebSockets({
    ...protocol,
    httpServers,
    context,
    gate,
    allowedOrigins: new Set(allowedOrigins),
    maxConnections: maxSubscriptions,
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
  /** Those who follow a request hear of the end first: their connections would keep the servers open. */
  async function closeAll(): Promise<void> {
    await feeds.close();
    await webSockets.close();
    await apollo.stop();
  }
  return { url, ports, close };
}

const MIB = 1_048_576;
const SEND_TIMEOUT_MS = 30_000;
