import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createHealthHandler, createMetrics } from "@planwright/runtime";
import type { ClientStore } from "@planwright/store";
import { createApolloServer } from "./graphql/apollo-server.ts";
import { createContext } from "./graphql/context.ts";
import { createApp } from "./http/app.ts";
import { createAdmission } from "./load/admission.ts";
import type { ApiLogger, WorkOffers } from "./parts.ts";
import { createOpenCalls } from "./waiting/open-calls.ts";

/** What the service is made of. */
export interface ApiParts {
  store: ClientStore & { ping(): Promise<void> };
  offers: WorkOffers;
  logger: ApiLogger;
  host: string;
  /** 0 takes a free one. */
  port: number;
  tenant: string;
  introspection: boolean;
  /** Mutations under way at once, at most. Default 200. */
  maxPendingMutations?: number | undefined;
  /** Plans, and requests for one, that are not over, at most, counted over all services. Default 100,000. */
  maxUnfinishedPlans?: number | undefined;
}

/** A running service. */
export interface Api {
  /** Address of the GraphQL endpoint. */
  url: string;
  port: number;
  /** Refuses new work, ends waiting calls with what is known, finishes the answers under way. Safe to call twice. */
  close(): Promise<void>;
}

/** Starts to listen; resolves when it does. */
export async function startApi(parts: ApiParts): Promise<Api> {
  const { store, offers, tenant, logger } = parts;
  const stopping = new AbortController();
  const calls = createOpenCalls();
  const httpServer = createServer({ requestTimeout: 30_000, headersTimeout: 10_000 });
  const admission = createAdmission({
    maxPendingMutations: parts.maxPendingMutations ?? 200,
    maxUnfinishedPlans: parts.maxUnfinishedPlans ?? 100_000,
    countUnfinished: (limit) => store.countUnfinished(limit),
  });
  const { introspection } = parts;
  const apollo = createApolloServer({ httpServer, logger, admission, introspection });
  await apollo.start();
  const app = createApp({
    apollo,
    context: (response) =>
      createContext({ store, offers, tenant, signal: calls.begin(response) }, Date.now()),
    // Redis is not checked: without it work is accepted all the same, and found by the sweepers.
    answerHealth: createHealthHandler({
      checks: { mongodb: () => store.ping() },
      metrics: createMetrics("api"),
      stopping: stopping.signal,
    }),
    logger,
  });
  httpServer.on("request", app);
  const port = await listen(httpServer, parts.host, parts.port);
  const url = `http://${parts.host.includes(":") ? `[${parts.host}]` : parts.host}:${port}/graphql`;
  let closed: Promise<void> | undefined;
  const close = () => {
    stopping.abort();
    calls.endAll();
    closed ??= apollo.stop();
    return closed;
  };
  return { url, port, close };
}

async function listen(server: Server, host: string, port: number): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host, port }, () => {
      server.off("error", reject);
      resolve();
    });
  });
  const address: AddressInfo | string | null = server.address();
  return typeof address === "object" && address !== null ? address.port : port;
}
