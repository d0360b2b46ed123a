import { Agent, type ClientRequest, request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest, Agent as TlsAgent } from "node:https";
import type { LookupFunction } from "node:net";
import { PassThrough, pipeline, type Readable, type Transform } from "node:stream";
import type { TLSSocket } from "node:tls";
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from "node:zlib";
import { LARGE_JSON_BYTES } from "@planwright/plan";
import { createParser } from "eventsource-parser";
import { type CallTrace, requestParts, TRACE_HEADER, type TraceOf } from "./call-trace.ts";
import { AnswerLostError, AnswerTooLargeError, UnreadableAnswerError } from "./errors.ts";
import { beginningOf, type ReadLargeMessages } from "./large-answer.ts";
import { readMessages } from "./wire-messages.ts";

/**
 * Idle connections are closed here before servers close them (most after 5 s): when a request is sent while
 * the server closes, it is unknown whether the request arrived.
 */
const IDLE_MS = 4_000;
const MAX_CONNECTIONS = 256;
/**
 * Most bytes of an answer that are read in one turn of the event loop. Without it a server that sends fast is read
 * 2 MiB at a time, and twelve of them keep timers waiting for 100 ms.
 */
const MAX_BYTES_A_TURN = 262_144;
/** Most encodings of one answer, one over the other. */
const MAX_ENCODINGS = 2;
/** After the stream of an answer ended, this process may still be processing its last event. */
const STREAM_GRACE_MS = 250;
/** What servers write for no encoding; some write the character set. */
const NO_ENCODINGS = ["", "identity", "none", "utf-8", "utf8"];
/** Encodings of answers that are decoded, although none is asked for: proxies encode on their own account. */
const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createDeflateDecoder,
  br: createBrotliDecompress,
};
/** Statuses that a `Response` may have. */
const isResponseStatus = (status: number) => status >= 200 && status <= 599;

/** Allows connections only to permitted addresses, like `createAddressGuard` of packages/runtime. */
export interface AddressGuard {
  /** @throws an error with the code ADDRESS_FORBIDDEN for a host that is a forbidden address */
  check(host: string): void;
  /** Resolves a name to permitted addresses; fails with the same error if the name has none. */
  lookup: LookupFunction;
}

/** The access tokens with which requests were sent, by their answers. */
const sentTokens = new WeakMap<Response, string>();

/** The access token of the request that a response of {@link createHttpFetch} answers. Undefined: it had none. */
export const tokenSentFor = (response: Response): string | undefined => sentTokens.get(response);

/** The HTTP requests of one session. */
export interface HttpFetch {
  fetch: (url: string | URL, init?: RequestInit) => Promise<Response>;
  /** True while a stream for the server's own messages is open. */
  isListening(): boolean;
  /** Closes idle connections; those in use end with their request. */
  close(): void;
}

/**
 * `fetch` over `node:http`, because the global one lacks three things: this one notes in the trace of the
 * call whether the request can have reached the server; it reads at most `maxBytes` of an answer, counted
 * when it is decoded; and it takes a third of the time. Connections are kept alive, up to 256 at once;
 * further requests wait for one. Redirects are answers: the SDK follows those within the same origin, through
 * this function again. Messages in answers and event streams are read by {@link readMessages} before the SDK
 * gets them.
 */
export function createHttpFetch(
  traces: ReadonlyMap<string, CallTrace>,
  {
    maxBytes,
    addresses,
    onStreamEnd,
    onUnreadable,
    onlyWaiting,
    traceOf,
    readLarge,
  }: {
    maxBytes: number;
    addresses?: AddressGuard | undefined;
    /** Called when a stream for the server's own messages ended, with the time that it was open. */
    onStreamEnd: (livedMs: number) => void;
    /**
     * An event cannot be read.
     * @param requestId - the request that the stream answers; undefined for the server's own messages
     */
    onUnreadable: (error: UnreadableAnswerError, text: string, requestId: RequestId | undefined) => void;
    /** The request that waits for an answer, if there is exactly one: streams without a request may have it. */
    onlyWaiting: () => RequestId | undefined;
    /** Finds the calls in progress: over the older transport a request has no trace in its headers. */
    traceOf: TraceOf;
    /** Reads messages of more than 256 KiB. */
    readLarge: ReadLargeMessages;
  },
): HttpFetch {
  const lookup = addresses && { lookup: addresses.lookup };
  const options = { keepAlive: true, maxSockets: MAX_CONNECTIONS, timeout: IDLE_MS, ...lookup };
  const agent = new Agent(options);
  const tlsAgent = new TlsAgent(options);
  let listening = 0;
  /** Streams requested with GET are those for the server's own messages. */
  const watchListening = (response: IncomingMessage): void => {
    if (!isEventStream(response)) return;
    listening += 1;
    const openedAt = performance.now();
    response.once("close", () => {
      listening -= 1;
      onStreamEnd(performance.now() - openedAt);
    });
  };
  return {
    fetch: (url, init = {}) =>
      new Promise((resolve, reject) => {
        const target = new URL(url);
        addresses?.check(target.hostname);
        const headers = new Headers(init.headers);
        const requestId = requestIdOf(init.body);
        const traceId = headers.get(TRACE_HEADER);
        const trace = traceId === null ? traceOf(requestId) : traces.get(traceId);
        // Its outcome is known, perhaps as not sent: the renewal of its token took longer than the call may.
        if (trace === undefined && isCall(init.body)) return reject(new AnswerLostError());
        // What was answered before, by a redirect or a refused token, says nothing about this request.
        if (trace !== undefined) {
          trace.status = undefined;
          trace.retryAfterMs = undefined;
        }
        headers.delete(TRACE_HEADER);
        headers.set("accept-encoding", "identity");
        const [, token] = /^Bearer (.+)$/.exec(headers.get("authorization") ?? "") ?? [];
        const settings = { method: init.method ?? "GET", headers: Object.fromEntries(headers) };
        const request =
          target.protocol === "https:"
            ? httpsRequest(target, { ...settings, agent: tlsAgent })
            : httpRequest(target, { ...settings, agent });
        const exchange = {
          request,
          requestId,
          onlyWaiting,
          trace,
          traceOf,
          readLarge,
          maxBytes,
          onUnreadable,
          resolve(response: Response) {
            if (token !== undefined) sentTokens.set(response, token);
            resolve(response);
          },
          reject,
        };
        watchStart(exchange);
        watchStop(exchange, init.signal ?? undefined);
        request.on("error", reject);
        if (settings.method === "GET") request.on("response", watchListening);
        request.on("response", (response) => readResponse(response, exchange));
        send(request, typeof init.body === "string" ? requestParts(init.body, trace?.large) : []);
      }),
    isListening: () => listening > 0,
    close: () => {
      agent.destroy();
      tlsAgent.destroy();
    },
  };
}

/** Sends a body; its length is known, because not every server reads chunks. */
function send(request: ClientRequest, parts: readonly (string | Uint8Array)[]): void {
  if (parts.length > 1) {
    const sizes = parts.map((part) => (typeof part === "string" ? Buffer.byteLength(part) : part.byteLength));
    request.setHeader(
      "content-length",
      sizes.reduce((sum, size) => sum + size, 0),
    );
  }
  for (const part of parts.slice(0, -1)) request.write(part);
  request.end(parts.at(-1));
}

type RequestId = string | number;

interface Exchange {
  request: ClientRequest;
  /** The JSON-RPC id of the request in the body; undefined for notifications and without a body. */
  requestId: RequestId | undefined;
  onlyWaiting: () => RequestId | undefined;
  onUnreadable: (error: UnreadableAnswerError, text: string, requestId: RequestId | undefined) => void;
  trace: CallTrace | undefined;
  traceOf: TraceOf;
  readLarge: ReadLargeMessages;
  maxBytes: number;
  resolve: (response: Response) => void;
  reject: (error: unknown) => void;
}

/** A request counts as sent when its connection is open. */
function watchStart({ request, trace }: Exchange): void {
  if (trace === undefined) return;
  const markSent = () => {
    trace.sent = true;
  };
  request.on("socket", (socket) => {
    if (!socket.connecting) return markSent();
    const isTls = "encrypted" in socket && (socket as TLSSocket).encrypted;
    socket.once(isTls ? "secureConnect" : "connect", markSent);
  });
}

/** Requests of a call are stopped by its trace, others by the signal of the SDK. */
function watchStop({ request, trace }: Exchange, signal: AbortSignal | undefined): void {
  const stop = () => void request.destroy(new AnswerLostError());
  if (trace !== undefined) {
    trace.stop = stop;
    return;
  }
  if (signal?.aborted) return stop();
  signal?.addEventListener("abort", stop, { once: true });
  request.once("close", () => signal?.removeEventListener("abort", stop));
}

function readResponse(response: IncomingMessage, exchange: Exchange): void {
  const { trace, resolve, reject } = exchange;
  const { statusCode = 0 } = response;
  const { date, "retry-after": retryAfter } = response.headers;
  if (trace !== undefined) {
    trace.status = statusCode;
    trace.retryAfterMs = parseRetryAfter(retryAfter, Date.now(), date);
  }
  const init = {
    // Without the reason phrase: `Response` throws for some that Node reads.
    status: isResponseStatus(statusCode) ? statusCode : 502,
    headers: headersOf(response),
  };
  const body = decoded(response);
  if (body === undefined) {
    response.destroy();
    const encoding = String(response.headers["content-encoding"]).slice(0, 64);
    return reject(
      new UnreadableAnswerError(
        `has the encoding "${encoding}", which cannot be decoded; let the server or the proxy before it send it without Content-Encoding, or with gzip, deflate or br`,
        "",
      ),
    );
  }
  if (isEventStream(response)) return resolve(new Response(streamOf(body, exchange), init));
  const chunks: Buffer[] = [];
  let size = 0;
  let inTurn = 0;
  body.on("data", (chunk: Buffer) => {
    chunks.push(chunk);
    size += chunk.byteLength;
    if (size > exchange.maxBytes) body.destroy(new AnswerTooLargeError(exchange.maxBytes));
    inTurn += chunk.byteLength;
    if (inTurn <= MAX_BYTES_A_TURN) return;
    inTurn = 0;
    body.pause();
    setImmediate(() => body.resume());
  });
  body.on("error", (error) => reject(readError(error)));
  body.on("end", () => {
    if (trace !== undefined) trace.stop = undefined;
    const beginning = beginningOf(chunks, 100).toString("utf8");
    if (init.status >= 200 && init.status < 300) declareJson(init.headers, beginning);
    resolve(new TextResponse({ chunks, size }, init, exchange));
  });
  response.on("close", () => {
    if (!response.complete) reject(new AnswerLostError());
  });
}

/**
 * The body without its Content-Encoding; undefined for an unknown one. It ends with an error when the
 * connection breaks or the bytes are not of that encoding.
 */
function decoded(response: IncomingMessage): Readable | undefined {
  const encodings = (response.headers["content-encoding"] ?? "")
    .toLowerCase()
    .split(",")
    .map((encoding) => encoding.trim())
    .filter((encoding) => !NO_ENCODINGS.includes(encoding));
  let body: Readable = response;
  for (const encoding of encodings.toReversed().slice(0, MAX_ENCODINGS)) {
    const create = Object.hasOwn(DECODERS, encoding) ? DECODERS[encoding] : undefined;
    if (create === undefined) return undefined;
    // The error also reaches the listeners of the decoder.
    body = pipeline(body, create(), () => {});
  }
  return encodings.length > MAX_ENCODINGS ? undefined : body;
}

/** "deflate" is zlib by its definition, and raw deflate of some servers; the first byte shows which. */
function createDeflateDecoder(): Transform {
  let inner: Transform | undefined;
  const outer = new PassThrough();
  outer._transform = (chunk: Buffer, _encoding, done) => {
    if (inner === undefined) {
      inner = ((chunk[0] ?? 0) & 0x0f) === 8 ? createInflate() : createInflateRaw();
      inner.on("data", (data: Buffer) => void outer.push(data));
      inner.on("error", (error) => outer.destroy(error));
    }
    inner.write(chunk, done);
  };
  outer._flush = (done) => {
    if (inner === undefined) return done();
    inner.once("end", done);
    inner.end();
  };
  outer.once("close", () => inner?.destroy());
  return outer;
}

/** What a failed body means for its request. */
function readError(error: NodeJS.ErrnoException): Error {
  const { code = "" } = error;
  if (code === "Z_BUF_ERROR" || code === "ERR_STREAM_PREMATURE_CLOSE") return new AnswerLostError(error);
  return /^(?:Z_|ERR__|ERR_BROTLI)/.test(code)
    ? new UnreadableAnswerError("cannot be decoded as its Content-Encoding says", "", error)
    : error;
}

/** How the SDK begins a request. */
const REQUEST_START = '{"method":';

/** True for a call of a tool. */
function isCall(body: RequestInit["body"]): boolean {
  return typeof body === "string" && body.startsWith(`${REQUEST_START}"tools/call"`);
}

/**
 * The id of the JSON-RPC request in a body. Undefined for our answer to a request of the server: its id is one of
 * the server's own.
 */
function requestIdOf(body: RequestInit["body"]): RequestId | undefined {
  if (typeof body !== "string") return undefined;
  // The SDK writes the id last; arguments of tools stand before it.
  const end = /,"id":(\d+|"[^"\\]{0,100}")\}$/.exec(body.slice(-120))?.[1];
  if (end !== undefined && body.startsWith(REQUEST_START)) return JSON.parse(end) as RequestId;
  const parsed: unknown = JSON.parse(body);
  if (typeof parsed !== "object" || parsed === null || !("id" in parsed && "method" in parsed))
    return undefined;
  return typeof parsed.id === "string" || typeof parsed.id === "number" ? parsed.id : undefined;
}

/** Some servers send JSON as text, or do not say what they send. */
function declareJson(headers: Headers, text: string): void {
  const type = headers.get("content-type") ?? "";
  if (/^\s*[[{]/.test(text.slice(0, 100)) && !/json|event-stream/i.test(type))
    headers.set("content-type", "application/json");
}

function isEventStream({ statusCode, headers }: IncomingMessage): boolean {
  return statusCode === 200 && headers["content-type"]?.includes("text/event-stream") === true;
}

/** A response whose body was already read. The general class would send it through a stream again. */
class TextResponse extends Response {
  override readonly text: () => Promise<string>;
  override readonly json: () => Promise<unknown>;
  constructor(
    { chunks, size }: { chunks: readonly Buffer[]; size: number },
    init: ResponseInit,
    { traceOf, readLarge, requestId }: Exchange,
  ) {
    super(null, init);
    const text = () => Buffer.concat(chunks, size).toString("utf8");
    this.text = () => Promise.resolve(text());
    this.json = async () => {
      const { messages } =
        size > LARGE_JSON_BYTES
          ? await readLarge(chunks, { requestId, isShared: false })
          : readMessages(text(), { traceOf, requestId });
      return messages.length === 1 ? messages[0] : messages;
    };
  }
}

/**
 * The events of a stream, with messages as {@link readMessages} reads them. When the call is stopped the body
 * neither ends nor fails: on both, the SDK would open a new stream for an answer that no caller waits for.
 */
function streamOf(
  body: Readable,
  { requestId, onlyWaiting, trace, traceOf, readLarge, maxBytes, onUnreadable }: Exchange,
): ReadableStream<Uint8Array> {
  let size = 0;
  let isStopped = false;
  if (trace !== undefined) {
    trace.stop = () => {
      isStopped = true;
      body.destroy();
    };
  }
  return new ReadableStream<Uint8Array>({
    start(controller) {
      /** The large events that are being read; undefined while there are none. */
      let reading: Promise<void> | undefined;
      const end = (error?: Error) => {
        if (reading === undefined) return endNow(error);
        void reading.then(() => endNow(error));
      };
      const endNow = (error?: Error) => {
        if (isStopped) return;
        isStopped = true;
        if (error === undefined) controller.close();
        else controller.error(error);
        if (error instanceof AnswerTooLargeError || error instanceof UnreadableAnswerError)
          return trace?.fail(error);
        setTimeout(() => trace?.fail(new AnswerLostError(error)), STREAM_GRACE_MS).unref();
      };
      const decoder = new TextDecoder();
      const encoder = new TextEncoder();
      const write = (text: string) => {
        if (!isStopped) controller.enqueue(encoder.encode(text));
      };
      const parser = createParser({
        onComment: () => {
          if (trace === undefined) size = 0;
        },
        onRetry: (ms) => write(`retry: ${ms}\n\n`),
        onEvent: ({ id, event, data }) => {
          // A stream for all requests may have any length, but each of its events is limited.
          if (trace === undefined) size = 0;
          const head = `${id === undefined ? "" : `id: ${id}\n`}${event === undefined ? "" : `event: ${event}\n`}`;
          const isMessage = data !== "" && (event === undefined || event === "message");
          const isLarge = isMessage && Buffer.byteLength(data) > LARGE_JSON_BYTES;
          const writeAll = (texts: string[]) => {
            for (const text of texts) write(`${head}${linesOf(text)}\n`);
          };
          if (!isLarge && reading === undefined) return writeAll(isMessage ? messageTexts(data) : [data]);
          // Events stay in their order.
          reading = Promise.resolve(reading).then(async () => {
            const read = isLarge ? largeMessageTexts(data) : isMessage ? messageTexts(data) : [data];
            writeAll(await read);
          });
        },
      });
      const readingOf = () => ({
        requestId: requestId ?? onlyWaiting(),
        isShared: requestId === undefined,
      });
      const largeMessageTexts = async (data: string): Promise<string[]> => {
        try {
          const { messages } = await readLarge(data, readingOf());
          return messages.map((message) => JSON.stringify(message));
        } catch (error) {
          onUnreadable(toUnreadable(error, data), data, requestId);
          return [""];
        }
      };
      const messageTexts = (data: string): string[] => {
        try {
          const { messages, isMended } = readMessages(data, { traceOf, ...readingOf() });
          return isMended ? messages.map((message) => JSON.stringify(message)) : [data];
        } catch (error) {
          if (error instanceof UnreadableAnswerError) onUnreadable(error, data, requestId);
          return [""];
        }
      };
      body.on("data", (chunk: Buffer) => {
        size += chunk.byteLength;
        if (size > maxBytes) body.destroy(new AnswerTooLargeError(maxBytes));
        else if (!isStopped) parser.feed(decoder.decode(chunk, { stream: true }));
        if ((controller.desiredSize ?? 0) <= 0) body.pause();
      });
      body.on("end", () => {
        // Some servers leave out the blank line after the last event.
        if (!isStopped) parser.feed("\n\n");
        end();
      });
      body.on("error", (error) => end(readError(error)));
      body.on("close", () => end(new AnswerLostError()));
    },
    pull: () => void body.resume(),
    cancel: () => {
      isStopped = true;
      body.destroy();
    },
  });
}

function toUnreadable(error: unknown, data: string): UnreadableAnswerError {
  return error instanceof UnreadableAnswerError
    ? error
    : new UnreadableAnswerError("could not be read", data, error);
}

/** The lines of an event with this data. */
function linesOf(data: string): string {
  return data
    .split("\n")
    .map((line) => `data: ${line}\n`)
    .join("");
}

function headersOf(response: IncomingMessage): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(response.headers)) {
    if (Array.isArray(value)) for (const item of value) headers.append(name, item);
    else if (value !== undefined) headers.set(name, value);
  }
  return headers;
}

const MAX_RETRY_AFTER_MS = 3_600_000;

/**
 * Milliseconds to wait by a Retry-After header, at most one hour. The header holds seconds or an HTTP date;
 * every other value, and no header, give `undefined`.
 * @param date - the header Date of the same answer: a date counts from the server's time, by its own clock
 * @see RFC 9110, section 10.2.3
 */
export function parseRetryAfter(header: string | undefined, nowMs: number, date = ""): number | undefined {
  if (header === undefined) return undefined;
  const ms = SECONDS.test(header.trim()) ? Number(header) * 1_000 : dateMs(header) - (dateMs(date) || nowMs);
  return Number.isFinite(ms) ? Math.min(Math.max(0, ms), MAX_RETRY_AFTER_MS) : undefined;
}

/** Some servers write parts of seconds. */
const SECONDS = /^\d{1,9}(?:\.\d{1,9})?$/;

/** Unix milliseconds of an HTTP date; NaN for other text, some of which Node takes for a date. */
const dateMs = (text: string): number => (text.includes(":") ? Date.parse(text) : Number.NaN);
