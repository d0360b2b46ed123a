import { createServer, type Server } from "node:http";
import {
  hostHeaderValidation,
  type NodeIncomingMessageLike,
  originValidation,
  toNodeHandler,
} from "@modelcontextprotocol/node";
import { createMcpHandler } from "@modelcontextprotocol/server";
import { type BlogServerOptions, createBlogServer } from "./mcp-server.ts";

/** Largest accepted request body; the longest content fits in twice, escaped. */
const MAX_BODY_BYTES = 1_048_576;
const DRAIN_MS = 10_000;
const LOCAL_NAMES = ["localhost", "127.0.0.1", "[::1]"];

/** Where and for whom to listen. */
export interface HttpServerOptions extends BlogServerOptions {
  host: string;
  /** 0 takes a free one. */
  port: number;
  /** Names that may stand in the Host and Origin headers, beside those of this machine and `host`. */
  allowedHosts: readonly string[];
}

/** A server that listens. */
export interface HttpServer {
  /** Address of the MCP endpoint. */
  url: string;
  /** Stops accepting, lets calls under way end (10 s at most), then resolves. */
  close(): Promise<void>;
}

/**
 * Serves MCP over streamable HTTP at `/mcp`, to clients of both protocol eras, and `/healthz` and `/readyz`.
 * Requests with a foreign Host or Origin are refused with 403, so that no web page can reach the tools through the
 * browser of someone on this machine (DNS rebinding). Health checks are exempt: kubelets use addresses of pods.
 */
export async function startHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const { database, onError } = options;
  const names = [...LOCAL_NAMES, bracketed(options.host), ...options.allowedHosts];
  const isHostAllowed = hostHeaderValidation(names);
  const isOriginAllowed = originValidation(names);
  const handler = createMcpHandler(() => createBlogServer({ database, onError }), {
    maxRequestBodySize: MAX_BODY_BYTES,
  });
  const serveMcp = toNodeHandler(handler, {
    maxRequestBodySize: MAX_BODY_BYTES,
    onerror: (error) => onError(error, "mcp"),
  });
  let closing = false;

  const server = createServer({ requestTimeout: 30_000, keepAliveTimeout: 65_000 }, (request, response) => {
    const answer = (status: number, text: string) => {
      response.writeHead(status, { "content-type": "text/plain; charset=utf-8" }).end(`${text}\n`);
    };
    switch (request.url?.split("?", 1)[0]) {
      case "/healthz":
        return answer(200, "ok");
      case "/readyz":
        if (closing) return answer(503, "shutting down");
        return void database.ping().then(
          () => answer(200, "ok"),
          () => answer(503, "MongoDB does not answer"),
        );
      case "/mcp":
        if (closing) response.setHeader("connection", "close");
        if (isHostAllowed(request, response) && isOriginAllowed(request, response)) {
          // Differs from the adapter's own type only in how optional fields are declared.
          void serveMcp(request as NodeIncomingMessageLike, response);
        }
        return;
      default:
        return answer(404, "not found; the MCP endpoint is /mcp");
    }
  });
  const port = await listen(server, options);
  return {
    url: `http://${bracketed(options.host)}:${port}/mcp`,
    close: async () => {
      closing = true;
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

/** IPv6 addresses stand in brackets in URLs and Host headers. */
function bracketed(host: string): string {
  return host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
}
