import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { type ErrorFacts, errorBody } from "../errors/http-errors.ts";

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
