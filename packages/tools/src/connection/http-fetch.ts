import { Agent, type ClientRequest, request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest, Agent as TlsAgent } from "node:https";
import type { LookupFunction } from "node:net";
import type { TLSSocket } from "node:tls";
import { type CallTrace, TRACE_HEADER } from "./call-trace.ts";
import { AnswerLostError, AnswerTooLargeError } from "./errors.ts";
import { parseRetryAfter } from "./retry-after.ts";
import { createEventRewriter, type TraceOf, takeAnswer, traceById } from "./take-answer.ts";

/**
 * Idle connections are closed here before servers close them (most after 5 s): when a request is sent while
 * the server closes, it is unknown whether the request arrived.
 */
const IDLE_MS = 4_000;
const MAX_CONNECTIONS = 256;
/** After the stream of an answer ended, this process may still be processing its last event. */
const STREAM_GRACE_MS = 250;
/** Statuses that a `Response` may have. */
const isResponseStatus = (status: number) => status >= 200 && status <= 599;

/** Allows connections only to permitted addresses, like `createAddressGuard` of packages/runtime. */
export interface AddressGuard {
  /** @throws an error with the code ADDRESS_FORBIDDEN for a host that is a forbidden address */
  check(host: string): void;
  /** Resolves a name to permitted addresses; fails with the same error if the name has none. */
  lookup: LookupFunction;
}

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
 * call whether the request can have reached the server; it reads at most `maxBytes` of an answer; and it
 * takes a third of the time. Connections are kept alive, up to 256 at once; further requests wait for one.
 * Redirects are answers: the SDK follows those within the same origin, through this function again.
 */
export function createHttpFetch(
  traces: ReadonlyMap<string, CallTrace>,
  {
    maxBytes,
    addresses,
    onStreamEnd,
  }: {
    maxBytes: number;
    addresses?: AddressGuard | undefined;
    /** Called when a stream for the server's own messages ended, with the time that it was open. */
    onStreamEnd: (livedMs: number) => void;
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
        const trace = traces.get(headers.get(TRACE_HEADER) ?? "");
        headers.delete(TRACE_HEADER);
        const settings = { method: init.method ?? "GET", headers: Object.fromEntries(headers) };
        const request =
          target.protocol === "https:"
            ? httpsRequest(target, { ...settings, agent: tlsAgent })
            : httpRequest(target, { ...settings, agent });
        const exchange = { request, trace, maxBytes, resolve, reject };
        watchStart(exchange);
        watchStop(exchange, init.signal ?? undefined);
        request.on("error", reject);
        if (settings.method === "GET") request.on("response", watchListening);
        request.on("response", (response) => readResponse(response, exchange));
        request.end(typeof init.body === "string" ? init.body : undefined);
      }),
    isListening: () => listening > 0,
    close: () => {
      agent.destroy();
      tlsAgent.destroy();
    },
  };
}

interface Exchange {
  request: ClientRequest;
  trace: CallTrace | undefined;
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
  const { statusCode = 0, statusMessage: statusText = "" } = response;
  if (trace !== undefined) {
    trace.status = statusCode;
    trace.retryAfterMs = parseRetryAfter(response.headers["retry-after"], Date.now());
  }
  const init = {
    status: isResponseStatus(statusCode) ? statusCode : 502,
    statusText,
    headers: headersOf(response),
  };
  if (isEventStream(response)) return resolve(new Response(streamOf(response, exchange), init));
  const chunks: Buffer[] = [];
  let size = 0;
  response.on("data", (chunk: Buffer) => {
    chunks.push(chunk);
    size += chunk.byteLength;
    if (size > exchange.maxBytes) response.destroy(new AnswerTooLargeError(exchange.maxBytes));
  });
  response.on("error", reject);
  response.on("end", () => {
    if (trace !== undefined) trace.stop = undefined;
    // The answer of this exchange may lack the id of its request.
    const traceOf: TraceOf = (id) => traceById(trace ? [trace] : [], id ?? trace?.requestId);
    resolve(new TextResponse(Buffer.concat(chunks, size).toString("utf8"), init, traceOf));
  });
  response.on("close", () => {
    if (!response.complete) reject(new AnswerLostError());
  });
}

function isEventStream({ statusCode, headers }: IncomingMessage): boolean {
  return statusCode === 200 && headers["content-type"]?.includes("text/event-stream") === true;
}

/** A response whose text was already read. The general class would send it through a stream again. */
class TextResponse extends Response {
  override readonly text: () => Promise<string>;
  override readonly json: () => Promise<unknown>;
  constructor(text: string, init: ResponseInit, traceOf: TraceOf) {
    super(null, init);
    this.text = () => Promise.resolve(text);
    this.json = async () => takeAnswer(JSON.parse(text), traceOf);
  }
}

/**
 * The body of an event stream. When the call is stopped the body neither ends nor fails: on both, the SDK
 * would open a new stream for an answer that no caller waits for.
 */
function streamOf(response: IncomingMessage, { trace, maxBytes }: Exchange): ReadableStream<Uint8Array> {
  let size = 0;
  let isStopped = false;
  const rewritten = trace && createEventRewriter((id) => traceById([trace], id));
  if (trace !== undefined) {
    trace.stop = () => {
      isStopped = true;
      response.destroy();
    };
  }
  return new ReadableStream<Uint8Array>({
    start(controller) {
      const end = (error?: unknown) => {
        if (isStopped) return;
        isStopped = true;
        if (error === undefined) controller.close();
        else controller.error(error);
        if (error instanceof AnswerTooLargeError) return trace?.fail(error);
        setTimeout(() => trace?.fail(new AnswerLostError(error)), STREAM_GRACE_MS).unref();
      };
      response.on("data", (chunk: Buffer) => {
        size += chunk.byteLength;
        if (trace !== undefined && size > maxBytes) response.destroy(new AnswerTooLargeError(maxBytes));
        else if (!isStopped) controller.enqueue(rewritten?.(chunk) ?? new Uint8Array(chunk));
        if ((controller.desiredSize ?? 0) <= 0) response.pause();
      });
      response.on("end", () => end());
      response.on("error", end);
      response.on("close", () => end(new AnswerLostError()));
    },
    pull: () => void response.resume(),
    cancel: () => {
      isStopped = true;
      response.destroy();
    },
  });
}

function headersOf(response: IncomingMessage): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(response.headers)) {
    if (Array.isArray(value)) for (const item of value) headers.append(name, item);
    else if (value !== undefined) headers.set(name, value);
  }
  return headers;
}
