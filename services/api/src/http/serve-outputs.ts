import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Request, RequestHandler, Response } from "express";
import { requireScope } from "../access/gate.ts";
import { answeredCode, type SendRefusal } from "../errors/format-error.ts";
import type { ApiMetrics } from "../errors/telemetry.ts";
import type { GraphqlContext } from "../operation/context.ts";
import { type OpenOutput, openOutput, readRange } from "../operation/output-page.ts";
import { cutWhenSlow } from "./http-server.ts";

/** Dependencies of {@link serveOutputs}. */
interface ServeOutputsDependencies {
  /** Context of a request that passed the gate. */
  context: (request: IncomingMessage, response: ServerResponse) => GraphqlContext;
  metrics: Pick<ApiMetrics, "answered">;
  sendRefusal: SendRefusal;
  /** How long a client may read nothing, in milliseconds; then its connection is closed, as when it reads too slowly. */
  sendTimeoutMs: number;
}

/** Name of the operation in metrics. */
const OPERATION = "GET /outputs";
/** Bytes written to the socket at once; the rest waits until the socket accepts more. */
const CHUNK_BYTES = 65_536;

/** Streams the JSON text of an output, or a range of it, to callers with the scope `read`. */
export function serveOutputs(dependencies: ServeOutputsDependencies): RequestHandler {
  const { context, metrics, sendRefusal, sendTimeoutMs } = dependencies;
  return async (request, response) => {
    const startedAt = performance.now();
    let code = "OK";
    try {
      const made = context(request, response);
      requireScope(made.caller, "read");
      const output = await openOutput(refOf(request), made, (bytes) => made.bytes.holding(bytes));
      const body = answer(request, response, output);
      if (!body) return void response.end();
      // Before the head is sent: until then the answer can be refused.
      const chunks = inChunks(readRange(output, body.start, body.end));
      const first = await chunks.next();
      cutWhenSlow(response, { timeoutMs: sendTimeoutMs, sizeBytes: body.end - body.start });
      await pipeline(Readable.from(withFirst(first, chunks)), response);
    } catch (error) {
      code = answeredCode(error);
      // An answer that has started can only be cut off, as after a disconnect of the client.
      if (response.headersSent) response.destroy();
      else {
        for (const name of HEAD_OF_OUTPUT) response.removeHeader(name);
        sendRefusal(response, error);
      }
    } finally {
      metrics.answered(OPERATION, code, performance.now() - startedAt);
    }
  };
}

/** The reference in the path; its slashes may be percent-encoded. */
function refOf({ path }: Request): string {
  try {
    return decodeURIComponent(path.slice(1));
  } catch {
    return path;
  }
}

/** Headers that are true only of the output. */
const HEAD_OF_OUTPUT = ["etag", "accept-ranges", "cache-control", "content-range", "content-length"];

/** Sets the head of the answer. @returns the range that is its body; undefined without one */
function answer(
  request: Request,
  response: Response,
  output: OpenOutput,
): { start: number; end: number } | undefined {
  const { sizeBytes, etag } = output;
  response.set({ etag, "accept-ranges": "bytes", "cache-control": "private, no-cache" });
  if (isKnown(request.get("if-none-match"), etag)) {
    response.status(304);
    return undefined;
  }
  const ifRange = request.get("if-range");
  const isSame = ifRange === undefined || ifRange === etag;
  const wanted = request.method === "GET" && isSame ? request.get("range") : undefined;
  const range = parseByteRange(wanted, sizeBytes);
  if (range === "unsatisfiable") {
    response.status(416).set("content-range", `bytes */${sizeBytes}`);
    return undefined;
  }
  const { start, end } = range === "whole" ? { start: 0, end: sizeBytes } : range;
  if (range !== "whole") response.status(206).set("content-range", `bytes ${start}-${end - 1}/${sizeBytes}`);
  response.set({ "content-type": "application/json; charset=utf-8", "content-length": String(end - start) });
  return request.method === "HEAD" ? undefined : { start, end };
}

/** Weak comparison, as If-None-Match requires. */
function isKnown(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  return header.trim() === "*" || header.split(",").some((one) => one.trim().replace(/^W\//, "") === etag);
}

async function* withFirst<T>(
  first: IteratorResult<T, void>,
  rest: AsyncGenerator<T, void, void>,
): AsyncGenerator<T, void, void> {
  if (first.done) return;
  yield first.value;
  yield* rest;
}

async function* inChunks(buffers: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, void> {
  for await (const buffer of buffers) {
    for (let start = 0; start < buffer.length; start += CHUNK_BYTES) {
      yield buffer.subarray(start, start + CHUNK_BYTES);
    }
  }
}

/** Bytes from `start` to before `end`. */
interface ByteRange {
  start: number;
  end: number;
}

/**
 * Parses a Range header (RFC 9110, section 14). "whole" when the header must be ignored: it is missing,
 * invalid, or has another unit or several ranges. Pure.
 */
export function parseByteRange(
  header: string | undefined,
  sizeBytes: number,
): ByteRange | "whole" | "unsatisfiable" {
  const [, first, last] = /^bytes=[ \t]*(\d{0,15})-(\d{0,15})[ \t]*$/i.exec(header ?? "") ?? [];
  if (first === undefined || last === undefined || (first === "" && last === "")) return "whole";
  if (first === "") {
    const length = Math.min(sizeBytes, Number(last));
    return length === 0 ? "unsatisfiable" : { start: sizeBytes - length, end: sizeBytes };
  }
  const start = Number(first);
  if (last !== "" && Number(last) < start) return "whole";
  if (start >= sizeBytes) return "unsatisfiable";
  return { start, end: last === "" ? sizeBytes : Math.min(sizeBytes, Number(last) + 1) };
}
