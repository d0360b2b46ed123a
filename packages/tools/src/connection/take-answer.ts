/**
 * Takes the answer of a call out of the messages of a server before the SDK sees it. The SDK checks answers
 * against the protocol and drops those of another shape, although the tool has acted: an answer must not be
 * lost by its shape.
 */
import { type JSONRPCMessage, parseJSONRPCMessage } from "@modelcontextprotocol/client";
import { isJsonObject, type JsonObject, type JsonValue } from "@planwright/plan";
import { createParser } from "eventsource-parser";
import type { CallTrace } from "./call-trace.ts";

/** The call in progress that a message with this id answers. */
export type TraceOf = (id: JsonValue | undefined) => CallTrace | undefined;

/** The code of an error that has no code of the protocol: the server answered, and says no more. */
const SERVER_ERROR = -32_000;
const MAX_ERROR_CHARS = 2_000;

/**
 * The message that the SDK gets. When it answers a call, the answer as it came is put into the trace of the
 * call, and the SDK gets an empty result, or an error in the form that it knows. An answer that is not a
 * complete result (the tool asks for input) is left to the SDK, and so is everything else.
 */
export function takeAnswer(message: JsonValue, traceOf: TraceOf): JsonValue {
  if (Array.isArray(message)) return message.map((each) => takeAnswer(each, traceOf));
  if (!isJsonObject(message) || message["method"] !== undefined) return message;
  const { result, error = null } = message;
  const trace = result === undefined && error === null ? undefined : traceOf(message["id"]);
  if (trace?.requestId === undefined) return message;
  const head = { jsonrpc: "2.0", id: trace.requestId };
  if (error !== null) {
    trace.answer = { error };
    return { ...head, error: readableError(error) };
  }
  if (result === undefined || isIncomplete(result)) return message;
  trace.answer = { result };
  return { ...head, result: { resultType: "complete", content: [] } };
}

function isIncomplete(result: JsonValue): boolean {
  if (!isJsonObject(result)) return false;
  return typeof result["resultType"] === "string" && result["resultType"] !== "complete";
}

function readableError(error: JsonValue): JsonObject {
  const { code, message, data } = isJsonObject(error) ? error : { message: error };
  return {
    code: typeof code === "number" && Number.isInteger(code) ? code : SERVER_ERROR,
    message: typeof message === "string" ? message : JSON.stringify(error).slice(0, MAX_ERROR_CHARS),
    ...(data === undefined ? {} : { data }),
  };
}

/** Finds a call by the id of a message. Servers may return our numbers as texts. */
export function traceById(traces: Iterable<CallTrace>, id: JsonValue | undefined): CallTrace | undefined {
  if (typeof id !== "number" && typeof id !== "string") return undefined;
  for (const trace of traces) {
    if (trace.requestId !== undefined && String(trace.requestId) === String(id)) return trace;
  }
  return undefined;
}

/**
 * Rewrites the events of a stream with {@link takeAnswer}; data that is not JSON stays as it is.
 * @returns takes the next part of the stream, and gives the events that it completes
 */
export function createEventRewriter(traceOf: TraceOf): (part: Uint8Array) => Uint8Array {
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  let written = "";
  const parser = createParser({
    onEvent: ({ id, event, data }) => {
      if (id !== undefined) written += `id: ${id}\n`;
      if (event !== undefined) written += `event: ${event}\n`;
      for (const line of rewritten(data, traceOf).split("\n")) written += `data: ${line}\n`;
      written += "\n";
    },
    onRetry: (retryMs) => {
      written += `retry: ${retryMs}\n\n`;
    },
  });
  return (part) => {
    parser.feed(decoder.decode(part, { stream: true }));
    const events = encoder.encode(written);
    written = "";
    return events;
  };
}

function rewritten(data: string, traceOf: TraceOf): string {
  let message: JsonValue;
  try {
    message = JSON.parse(data);
  } catch {
    return data;
  }
  const taken = takeAnswer(message, traceOf);
  return taken === message ? data : JSON.stringify(taken);
}

/** The lines that a child process writes, read like the SDK does, with {@link takeAnswer}. */
export class LineBuffer {
  #chunks: Buffer[] = [];
  /** How many chunks are known to contain no end of a line. */
  #searched = 0;
  #sizeBytes = 0;
  readonly #maxBytes: number;
  readonly #traceOf: TraceOf;

  /** @param maxBytes - longest line */
  constructor(maxBytes: number, traceOf: TraceOf) {
    this.#maxBytes = maxBytes;
    this.#traceOf = traceOf;
  }

  /** @throws {RangeError} for a line that is too long; the SDK then closes the connection */
  append(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#sizeBytes += chunk.length;
    if (this.#sizeBytes <= this.#maxBytes) return;
    this.clear();
    throw new RangeError(`A message has more than ${this.#maxBytes} bytes`);
  }

  /** The next message; null when no complete one is left. Lines that are not JSON are skipped. */
  readMessage(): JSONRPCMessage | null {
    for (let line = this.#nextLine(); line !== undefined; line = this.#nextLine()) {
      let message: JsonValue;
      try {
        message = JSON.parse(line);
      } catch {
        continue;
      }
      return parseJSONRPCMessage(takeAnswer(message, this.#traceOf));
    }
    return null;
  }

  clear(): void {
    this.#chunks = [];
    this.#searched = 0;
    this.#sizeBytes = 0;
  }

  #nextLine(): string | undefined {
    const at = this.#chunks.findIndex((chunk, index) => index >= this.#searched && chunk.includes(10));
    this.#searched = at === -1 ? this.#chunks.length : 0;
    if (at === -1) return undefined;
    const [begin, rest] = splitAtLine(this.#chunks[at] ?? Buffer.alloc(0));
    const line = Buffer.concat([...this.#chunks.slice(0, at), begin]).toString("utf8");
    this.#chunks = [rest, ...this.#chunks.slice(at + 1)];
    this.#sizeBytes = this.#chunks.reduce((sum, chunk) => sum + chunk.length, 0);
    return line;
  }
}

function splitAtLine(chunk: Buffer): [Buffer, Buffer] {
  const at = chunk.indexOf(10);
  return [chunk.subarray(0, at), chunk.subarray(at + 1)];
}
