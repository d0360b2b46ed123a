import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { type ErrorFacts, errorBody } from "../errors/http-errors.ts";

/** How long a refused client is still listened to, in milliseconds: cut off while it sends, it would lose the answer. */
const LINGER_MS = 1_000;

/** Answers where HTTP has no response to answer with, and ends the connection. */
export function refuseConnection(socket: Duplex, status: number, error: ErrorFacts): void {
  const body = JSON.stringify(errorBody(error));
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Type: application/json; charset=utf-8\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
  // A parser would find the next error.
  socket.removeAllListeners("data").on("data", () => undefined);
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}
