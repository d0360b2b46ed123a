import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import type { ErrorFacts } from "../errors/http-errors.ts";
import { refuseConnection } from "./refuse-connection.ts";

const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;
/**
 * How often both timeouts are checked, in milliseconds; with Node's default of 30 s slow connections could
 * stay open twice as long.
 */
const CHECK_EVERY_MS = 1_000;

/** Settings of {@link createHttpServer}. */
export interface HttpServerOptions {
  /**
   * Time for a complete request to arrive, in milliseconds; its headers have at most 10,000. Default 30,000.
   */
  requestTimeoutMs?: number | undefined;
}

/**
 * A server that also answers bytes that are not HTTP with an error. It does not listen yet, and has no
 * request handler.
 */
export function createHttpServer({ requestTimeoutMs = REQUEST_TIMEOUT_MS }: HttpServerOptions = {}): Server {
  const headersTimeoutMs = Math.min(HEADERS_TIMEOUT_MS, requestTimeoutMs);
  const server = createServer({
    requestTimeout: requestTimeoutMs,
    headersTimeout: headersTimeoutMs,
    connectionsCheckingInterval: CHECK_EVERY_MS,
    // createApp checks it and answers in the common form of errors.
    requireHostHeader: false,
  });
  /** The latest response of each connection. */
  const responses = new WeakMap<Duplex, ServerResponse>();
  server.on("request", ({ socket }, response) => responses.set(socket, response));
  server.on("clientError", (error, socket) => {
    const response = responses.get(socket);
    const isAnswering = response?.headersSent && !response.writableFinished;
    if (socket.destroyed || isAnswering) return void socket.destroy();
    if (!socket.writable) return; // already answered; refuseConnection still reads from it
    const code = "code" in error ? error.code : undefined;
    const { status, ...facts } = refusalOf(code, { headersTimeoutMs, requestTimeoutMs });
    refuseConnection(socket, status, facts);
  });
  return server;
}

/** The answer for the code of Node's error. */
function refusalOf(
  code: unknown,
  { headersTimeoutMs, requestTimeoutMs }: { headersTimeoutMs: number; requestTimeoutMs: number },
): ErrorFacts & { status: number } {
  switch (code) {
    case "HPE_HEADER_OVERFLOW":
      return {
        status: 431,
        code: "PAYLOAD_TOO_LARGE",
        message: "The headers are larger than 16 KiB",
        remedy: "Send fewer headers, or shorter ones.",
      };
    case "HPE_CHUNK_EXTENSIONS_OVERFLOW":
      return {
        status: 413,
        code: "PAYLOAD_TOO_LARGE",
        message: "The extensions of a chunk are larger than 16 KiB",
        remedy: "Send chunks without extensions.",
      };
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return {
        status: 408,
        code: "BAD_REQUEST",
        message: "The request did not arrive in time",
        remedy: `Send its headers within ${headersTimeoutMs / 1_000} s and the complete request within ${requestTimeoutMs / 1_000} s.`,
      };
    default:
      return {
        status: 400,
        code: "BAD_REQUEST",
        message: "The bytes are not an HTTP request, or were cut off",
        remedy: "Send a complete request in HTTP/1.1. This port does not support TLS.",
      };
  }
}

/**
 * Most connections that may wait to be accepted; the kernel lowers it to its own limit. With Node's default
 * of 511, some of a thousand clients that reconnect at the same time, as after a restart, are dropped and
 * retry only after seconds.
 */
const BACKLOG = 4_096;

/** Starts to listen. @returns the port, a free one for port 0 */
export async function listen(server: Server, host: string, port: number): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host, port, backlog: BACKLOG }, () => {
      server.off("error", reject);
      resolve();
    });
  });
  const address: AddressInfo | string | null = server.address();
  return typeof address === "object" && address !== null ? address.port : port;
}
