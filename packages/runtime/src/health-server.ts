import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Registry } from "prom-client";
import { createMetrics } from "./create-metrics.ts";
import { redactText } from "./redact.ts";

/** Address and contents of a health server. */
export interface HealthServerOptions extends HealthOptions {
  /** 0 takes a free port. */
  port: number;
  /** Default 127.0.0.1; 0.0.0.0 in a container. */
  host?: string;
}

/** A health server that listens. */
export interface HealthServer {
  /** Such as http://127.0.0.1:4012, without a slash at the end. */
  url: string;
  /** Closes the server at once, including probes in progress. */
  close(): Promise<void>;
}

/**
 * Serves `/healthz`, `/readyz` and `/metrics` on a separate port; every other path is 404. Without `metrics`
 * it serves the default metrics of Node.
 * @throws when the port is taken
 */
export async function createHealthServer(options: HealthServerOptions): Promise<HealthServer> {
  const { port, host = "127.0.0.1" } = options;
  const answer = createHealthHandler({ ...options, metrics: options.metrics ?? createMetrics() });
  const server = createServer({ requestTimeout: 10_000 }, (request, response) => {
    answer(request, response).then(
      (isAnswered) => {
        if (!isAnswered) response.writeHead(404).end();
      },
      () => response.writeHead(500).end(),
    );
  });
  // Each of several processes that share the ports of their API has a health port of its own.
  server.listen({ port, host, exclusive: true });
  await once(server, "listening");
  const address = server.address();
  const listening = typeof address === "object" && address !== null ? address.port : port;
  const name = host.includes(":") ? `[${host}]` : host;
  return {
    url: `http://${name}:${listening}`,
    close: async () => {
      if (!server.listening) return;
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Contents of `/readyz` and `/metrics`. */
export interface HealthOptions {
  checks?: HealthChecks;
  /**
   * More facts in the answer of `/readyz` while all checks pass, such as a missing part of another service.
   */
  details?: () => Promise<Readonly<Record<string, unknown>>>;
  /** Timeout of one check, in milliseconds; default 2,000. */
  checkTimeoutMs?: number;
  /** Served at `/metrics`; without it that path is 404. */
  metrics?: Registry;
  /** Aborted when the service begins to stop: `/readyz` is 503 from then on, `/healthz` stays 200. */
  stopping?: AbortSignal;
}

/**
 * Answers `/healthz` (200 while the process is alive), `/readyz` (200, or 503 naming each failing check) and
 * `/metrics`. Resolves to false for any other path; then the caller answers. Probes at the same time share
 * one run of the checks.
 */
export function createHealthHandler(options: HealthOptions) {
  const { checks = {}, checkTimeoutMs = 2_000, metrics, stopping } = options;
  let running: Promise<FailingChecks> | undefined;

  async function readiness(): Promise<FailingChecks> {
    if (stopping?.aborted) return { shutdown: "the service is stopping" };
    running ??= runChecks(checks, checkTimeoutMs).finally(() => {
      running = undefined;
    });
    return running;
  }

  return async (request: IncomingMessage, response: ServerResponse): Promise<boolean> => {
    if (request.method !== "GET" && request.method !== "HEAD") return false;
    switch (request.url?.split("?", 1)[0]) {
      case "/healthz":
        sendJson(response, 200, { status: "alive" });
        return true;
      case "/readyz": {
        const failing = await readiness();
        const isReady = Object.keys(failing).length === 0;
        sendJson(
          response,
          isReady ? 200 : 503,
          isReady ? { status: "ready", ...(await options.details?.()) } : { status: "not ready", failing },
        );
        return true;
      }
      case "/metrics": {
        if (!metrics) return false;
        const text = await metrics.metrics();
        response.writeHead(200, { "content-type": metrics.contentType }).end(text);
        return true;
      }
      default:
        return false;
    }
  };
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json", "cache-control": "no-store" });
  response.end(`${JSON.stringify(body)}\n`);
}

/**
 * Dependencies of a service, by name. A check rejects, or resolves to false, while the dependency does not
 * work.
 */
export type HealthChecks = Readonly<Record<string, () => Promise<unknown>>>;

/** The problems, by name of the check; empty when all checks pass. */
export type FailingChecks = Record<string, string>;

/**
 * Runs all checks at once. A check that gives no answer within `timeoutMs` fails; the others do not wait for
 * it.
 */
export async function runChecks(checks: HealthChecks, timeoutMs: number): Promise<FailingChecks> {
  const failing: FailingChecks = {};
  const runs = Object.entries(checks).map(async ([name, check]) => {
    const problem = await problemOf(check, timeoutMs);
    if (problem !== undefined) failing[name] = problem;
  });
  await Promise.all(runs);
  return failing;
}

async function problemOf(check: () => Promise<unknown>, timeoutMs: number): Promise<string | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve(`gave no answer within ${timeoutMs} ms`), timeoutMs);
  });
  const answer = Promise.resolve()
    .then(check)
    .then(
      (result) => (result === false ? "is not ready" : undefined),
      (error: unknown) => redactText(error instanceof Error ? error.message : "failed"),
    );
  return Promise.race([answer, deadline]).finally(() => clearTimeout(timer));
}
