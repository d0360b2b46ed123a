import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import {
  hostHeaderValidation,
  type NodeIncomingMessageLike,
  originValidation,
  toNodeHandler,
} from "@modelcontextprotocol/node";
import { createMcpHandler } from "@modelcontextprotocol/server";
import { createHealthHandler, createMetrics } from "@planwright/runtime";
import { type BlogServerOptions, createBlogServer } from "./mcp-server.ts";
import { createToolMetrics } from "./tool-metrics.ts";

/** Largest accepted request body; twice the longest content, escaped, fits. */
const MAX_BODY_BYTES = 1_048_576;
const DRAIN_MS = 10_000;
const LOCAL_NAMES = ["localhost", "127.0.0.1", "[::1]"];

/** The address to listen on, and the accepted host names. */
export interface HttpServerOptions extends Omit<BlogServerOptions, "countCall"> {
  host: string;
  /** 0 takes a free one. */
  port: number;
  /**
   * Names that are allowed in the Host and Origin headers, in addition to those of this machine and `host`.
   */
  allowedHosts: readonly string[];
  /** Aborted before `close()`: from then on the server is not ready, and connections end with their call. */
  stopping: AbortSignal;
}

/** A server that accepts connections. */
export interface HttpServer {
  /** Address of the MCP endpoint. */
  url: string;
  /** Stops accepting connections, lets calls in progress end (10 s at most), then resolves. */
  close(): Promise<void>;
}

/**
 * Serves MCP over streamable HTTP at `/mcp`, to clients of both protocol eras, and `/healthz`, `/readyz` and
 * `/metrics`. Requests with a foreign Host or Origin are refused with 403, so that no web page can reach the
 * tools through a browser on this machine (DNS rebinding). Health and metrics are exempt, because kubelets
 * and Prometheus use addresses of pods.
 */
export async function startHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const { database, onError, stopping } = options;
  const names = [...LOCAL_NAMES, bracketed(options.host), ...options.allowedHosts];
  const isHostAllowed = hostHeaderValidation(names);
  const isOriginAllowed = originValidation(names);
  const metrics = createMetrics("blog-tools");
  const countCall = createToolMetrics(metrics);
  const handler = createMcpHandler(() => createBlogServer({ database, onError, countCall }), {
    maxRequestBodySize: MAX_BODY_BYTES,
  });
  const serveMcp = toNodeHandler(handler, {
    maxRequestBodySize: MAX_BODY_BYTES,
    onerror: (error) => onError(error, "mcp"),
  });
  const answerHealth = createHealthHandler({
    checks: { mongodb: () => database.ping() },
    metrics,
    stopping,
  });
  const server = createServer({ requestTimeout: 30_000, keepAliveTimeout: 65_000 }, (request, response) => {
    response.once("finish", () => {
      if (stopping.aborted) setImmediate(() => server.closeIdleConnections());
    });
    void route(request, response).catch((error: unknown) => {
      onError(error, "http");
      response.destroy();
    });
  });

  async function route(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (await answerHealth(request, response)) return;
    if (request.url?.split("?", 1)[0] !== "/mcp") {
      response.writeHead(404, { "content-type": "text/plain" }).end("not found; the MCP endpoint is /mcp\n");
    } else if (isHostAllowed(request, response) && isOriginAllowed(request, response)) {
      // Differs from the type of the adapter only in how optional fields are declared.
      await serveMcp(request as NodeIncomingMessageLike, response);
    }
  }

  const port = await listen(server, options);
  return {
    url: `http://${bracketed(options.host)}:${port}/mcp`,
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      const deadline = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
      await closed;
      clearTimeout(deadline);
      await handler.close();
    },
  };
}

function listen(server: Server, { host, port }: HttpServerOptions): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : port);
    });
  });
}

/** IPv6 addresses are in brackets in URLs and Host headers. */
function bracketed(host: string): string {
  return host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
}
