import { once } from "node:events";
import { createServer } from "node:http";
import { createMetrics } from "../metrics/create-metrics.ts";
import { createHealthHandler, type HealthOptions } from "./health-handler.ts";

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
  server.listen(port, host);
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
