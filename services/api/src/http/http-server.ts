import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { type ErrorFacts, errorBody } from "../errors/format-error.ts";

const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;
/**
 * How often both timeouts are checked, in milliseconds; with Node's default of 30 s slow connections could
 * stay open twice as long.
 */
const CHECK_EVERY_MS = 1_000;

/** Settings of {@link createHttpServer}. */
interface HttpServerOptions {
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

/**
 * How long data of a refused client is still read, in milliseconds: if the connection closed while the client
 * sends, the client would lose the answer.
 */
const LINGER_MS = 1_000;

/** Writes an error to a socket that has no response object, and closes the connection. */
export function refuseConnection(socket: Duplex, status: number, error: ErrorFacts): void {
  const body = JSON.stringify(errorBody(error));
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Type: application/json; charset=utf-8\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
  // The HTTP parser would report more errors.
  socket.removeAllListeners("data").on("data", () => undefined);
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}

/**
 * Slowest average speed at which an answer may be read, in bytes a millisecond. A client that reads a little from
 * time to time would otherwise hold memory without end.
 */
const MIN_BYTES_PER_MS = 128;

/**
 * Closes the connection of a client that reads nothing of its answer for this time, or too slowly: the unread
 * answer uses memory.
 */
export function cutWhenStuck(response: ServerResponse, timeoutMs: number): void {
  // The time starts when the answer is complete: it may take long to create.
  response.once("prefinish", () =>
    cutWhenSlow(response, { timeoutMs, sizeBytes: Number(response.getHeader("content-length") ?? 0) }),
  );
}

/**
 * The same from now on, for an answer that is streamed: it ends after `timeoutMs` without progress, and after
 * `timeoutMs` and a millisecond for each 128 bytes in any case.
 */
export function cutWhenSlow(
  response: ServerResponse,
  { timeoutMs, sizeBytes }: { timeoutMs: number; sizeBytes: number },
): void {
  const cut = () => void response.destroy();
  const timer = setTimeout(cut, timeoutMs + sizeBytes / MIN_BYTES_PER_MS);
  response.setTimeout(timeoutMs, cut);
  response.once("close", () => clearTimeout(timer));
}

/**
 * False for requests from pages of another origin: programs send no Origin, and our own pages send the origin
 * of this service.
 * @param allowed - further origins, such as "https://ops.example.org"
 */
export function isAllowedOrigin({ headers }: IncomingMessage, allowed: ReadonlySet<string>): boolean {
  const { origin, host } = headers;
  if (origin === undefined || allowed.has(origin)) return true;
  return URL.canParse(origin) && new URL(origin).host === host;
}
