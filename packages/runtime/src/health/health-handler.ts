import type { IncomingMessage, ServerResponse } from "node:http";
import type { Registry } from "prom-client";
import { type FailingChecks, type HealthChecks, runChecks } from "./run-checks.ts";

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
