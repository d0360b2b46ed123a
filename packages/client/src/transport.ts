import {
  CodedError,
  isJsonObject,
  JsonValueSchema,
  parseExactJson,
  stringifyExactJson,
} from "@planwright/plan";
import { EventSourceParserStream } from "eventsource-parser/stream";
import { z } from "zod";
import { ApiRefusedError, ApiUnreachableError, NotTheApiError } from "./errors.ts";

/** The address of the API, the credential and the limits of calls. */
export interface TransportOptions {
  /** The GraphQL endpoint, such as `http://127.0.0.1:4000/graphql`. */
  url: string;
  /** An API key or a token, sent as `Authorization: Bearer`. Default: no credential. */
  token?: string | undefined;
  /** Ends all calls and streams; its reason is thrown. Default: never. */
  signal?: AbortSignal | undefined;
  /** Longest wait for one answer, or for the first byte of a stream, in milliseconds. Default 30,000. */
  timeoutMs?: number | undefined;
  /** Sends each request; its answers are responses of `fetch`. Default: the global `fetch`. */
  fetch?: ((url: string, init: SentRequest) => Promise<Response>) | undefined;
}

/** What a client gives to `fetch`. */
interface SentRequest {
  method: string;
  headers: Record<string, string>;
  body?: string;
  redirect: "manual";
  signal: AbortSignal;
}

/** Options of one call. */
export interface CallOptions {
  /** Ends this call; its reason is thrown. */
  signal?: AbortSignal | undefined;
  /** Longest wait for the answer, in milliseconds. */
  timeoutMs?: number | undefined;
}

/** The text of a GraphQL document with its variables. */
interface Body {
  query: string;
  variables: object;
}

/** Sends documents over HTTP. */
export interface Transport {
  /** @throws {ApiUnreachableError | NotTheApiError | ApiRefusedError} or the reason of a signal */
  execute<Result>(body: Body, options?: CallOptions): Promise<Result>;
  /**
   * @throws {ApiUnreachableError} also when the stream breaks off, {NotTheApiError | ApiRefusedError} or the
   * reason of a signal
   */
  subscribe<Result>(body: Body, options?: CallOptions): AsyncIterable<Result>;
  /**
   * @throws {ApiUnreachableError} also when the output breaks off, {NotTheApiError | ApiRefusedError} or the
   * reason of a signal
   */
  download(ref: string, options?: CallOptions): Promise<AsyncIterable<Uint8Array>>;
}

/** Media types of an answer: one document, or a stream of events. */
const DOCUMENTS = "application/graphql-response+json, application/json";
const EVENTS = "text/event-stream";
/** Longest silence of a stream, in milliseconds; the API sends a heartbeat every 12 s. */
const SILENCE_MS = 40_000;

/**
 * A transport that uses fetch. Its results contain text from users and tools: make it safe before it reaches
 * a terminal.
 */
export function createTransport(settings: TransportOptions): Transport {
  const { url, token, timeoutMs: defaultTimeoutMs = 30_000 } = settings;
  // Looked up at each request: tests and tracing replace the global one.
  const sendOne = settings.fetch ?? ((to: string, init: SentRequest) => fetch(to, init));
  const signalOf = ({ signal }: CallOptions) =>
    AbortSignal.any([settings.signal, signal].filter((one) => one !== undefined));

  /** Sends one HTTP request. The timeout covers `read`. */
  async function send<T>(
    to: string,
    { accept, body, options }: { accept: string; body?: Body; options: CallOptions },
    read: (response: Response) => Promise<T>,
  ): Promise<T> {
    const signal = signalOf(options);
    const timeoutMs = options.timeoutMs ?? defaultTimeoutMs;
    // Before the call: variables that are no JSON are not an API that does not answer.
    const text = body && stringifyExactJson(body);
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(new DOMException("late", "TimeoutError")), timeoutMs);
    try {
      const response = await sendOne(to, {
        method: text === undefined ? "GET" : "POST",
        headers: {
          ...(text === undefined ? {} : { "content-type": "application/json" }),
          accept,
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        },
        ...(text === undefined ? {} : { body: text }),
        // The token is for this address only: it must not follow a redirect. `error` would refuse redirects by itself,
        // but fetch of Node 20 then forgets the signal at the next garbage collection: a stream that is left stays
        // open, and the process with it.
        redirect: "manual",
        signal: AbortSignal.any([signal, late.signal]),
      });
      if (isRedirect(response)) {
        await response.body?.cancel();
        throw new TypeError("unexpected redirect");
      }
      return await read(response);
    } catch (error) {
      signal.throwIfAborted();
      throw new ApiUnreachableError(to, reasonOf(error, timeoutMs), error);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Passes the body on; an error names the address. */
  async function* pieces(body: ReadableStream<Uint8Array>, from: string, signal: AbortSignal) {
    try {
      yield* itemsOf(body);
    } catch (error) {
      signal.throwIfAborted();
      throw new ApiUnreachableError(from, "the output broke off", error);
    }
  }

  return {
    async execute<Result>(body: Body, options: CallOptions = {}) {
      const answer = await send(url, { accept: DOCUMENTS, body, options }, async (response) => ({
        status: response.status,
        text: await response.text(),
      }));
      return readAnswer<Result>(answer.text, { url, status: answer.status });
    },
    async download(ref, options = {}) {
      const from = new URL(url);
      from.pathname = from.pathname.replace(/\/graphql\/?$/, `/outputs/${encodeURIComponent(ref)}`);
      const begun = await send(from.href, { accept: "application/json", options }, async (response) =>
        response.ok && response.body
          ? response.body
          : { status: response.status, text: await response.text() },
      );
      if (!("text" in begun)) return pieces(begun, from.href, signalOf(options));
      return readAnswer<never>(begun.text, { url: from.href, status: begun.status });
    },
    async *subscribe<Result>(body: Body, options: CallOptions = {}) {
      const to = eventsUrlOf(url);
      const signal = signalOf(options);
      // The timeout is for the first byte: a stream may last for hours.
      const response = await send(to, { accept: EVENTS, body, options }, async (begun) => begun);
      const from = { url: to, status: response.status };
      const isStream = response.headers.get("content-type")?.startsWith(EVENTS) === true;
      try {
        // A refusal comes as one document. Any other document is not an answer to a subscription.
        if (!isStream || !response.body) {
          readAnswer(await response.text(), from);
          throw new NotTheApiError(to, response.status);
        }
        for await (const { event, data } of serverEvents(response.body, SILENCE_MS)) {
          if (event === "complete") return;
          if (event === "next") yield readAnswer<Result>(data, from);
        }
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof CodedError) throw error;
        throw new ApiUnreachableError(to, reasonOf(error, options.timeoutMs ?? defaultTimeoutMs), error);
      }
      throw new ApiUnreachableError(to, "the stream broke off");
    },
  };
}

/** The API serves subscriptions one level below the endpoint. */
function eventsUrlOf(url: string): string {
  const events = new URL(url);
  events.pathname = `${events.pathname.replace(/\/$/, "")}/stream`;
  return events.href;
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** True for a redirect that was not followed; a browser hides everything else of it. */
function isRedirect({ type, status }: Response): boolean {
  return type === "opaqueredirect" || REDIRECTS.has(status);
}

/** Why a call had no answer, in a few words. */
function reasonOf(error: unknown, timeoutMs: number): string {
  if (!(error instanceof Error)) return "unknown";
  if (error.name === "TimeoutError") return `no answer within ${timeoutMs / 1_000} s`;
  const { cause } = error;
  if (!(cause instanceof Error)) return error.message;
  const code = "code" in cause && typeof cause.code === "string" ? cause.code : undefined;
  // A host name with two addresses fails with an AggregateError, whose own message is empty.
  return cause.message || code || error.message;
}

const AnswerSchema = z.object({
  data: z.record(z.string(), z.unknown()).nullish(),
  errors: z
    .array(
      z.object({
        message: z.string(),
        path: z.array(z.union([z.string(), z.number()])).optional(),
        extensions: z.record(z.string(), JsonValueSchema).optional(),
      }),
    )
    .optional(),
});
type AnswerError = NonNullable<z.infer<typeof AnswerSchema>["errors"]>[number];

/**
 * The `data` of a GraphQL answer. The API answers according to its schema, so the type is trusted.
 * @throws {ApiRefusedError} with the first error of the answer; when the text is not a GraphQL answer
 * {ApiUnreachableError} for a proxy whose service is away, else {NotTheApiError}
 */
function readAnswer<Result>(text: string, from: { url: string; status: number }): Result {
  const { data, errors } = parseAnswer(text, from);
  const [first] = errors ?? [];
  if (first) throw refusal(first);
  if (!data) throw noAnswer(from);
  return data as Result;
}

/** What a proxy answers while the service behind it is being restarted. */
const SERVICE_AWAY: ReadonlySet<number> = new Set([502, 503, 504]);

/** The error for a text that is not a GraphQL answer. */
function noAnswer({ url, status }: { url: string; status: number }, cause?: unknown): CodedError {
  return SERVICE_AWAY.has(status)
    ? new ApiUnreachableError(url, `a proxy answers for it with HTTP ${status}`, cause)
    : new NotTheApiError(url, status, cause);
}

function parseAnswer(text: string, from: { url: string; status: number }) {
  try {
    return AnswerSchema.parse(parseExactJson(text));
  } catch (error) {
    throw noAnswer(from, error);
  }
}

function refusal({ message, path = [], extensions = {} }: AnswerError): ApiRefusedError {
  const { code, retryable, remedy, ...facts } = extensions;
  return new ApiRefusedError(message, {
    code: typeof code === "string" ? code : "UNKNOWN",
    retryable: retryable === true,
    remedy: typeof remedy === "string" ? remedy : null,
    path,
    facts: isJsonObject(facts) ? facts : {},
  });
}

/** One event of a stream. */
export interface ServerEvent {
  event: string;
  data: string;
}

/**
 * The events of a response, in order, until it ends.
 * @param silenceMs - longest time without a byte; the server sends comments as heartbeats
 * @throws {TypeError} or the error of the connection, when it breaks off or is silent for too long
 */
export async function* serverEvents(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  silenceMs: number,
): AsyncGenerator<ServerEvent> {
  const events = body
    .pipeThrough(endOnSilence(silenceMs))
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream());
  for await (const { event = "message", data } of itemsOf(events)) yield { event, data };
}

/** Reads by a reader, because older browsers (Safari before 26.4) have no iterable streams. */
async function* itemsOf<Item>(stream: ReadableStream<Item>): AsyncGenerator<Item> {
  const reader = stream.getReader();
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) yield read.value;
  } finally {
    // A consumer that stops early closes the connection. A broken stream makes read() reject.
    await reader.cancel().catch(() => undefined);
  }
}

/** Passes all bytes on, and fails after a silence: a dead connection reports no error. */
function endOnSilence<T>(silenceMs: number): TransformStream<T, T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  function restartTimer(controller: TransformStreamDefaultController<T>): void {
    clearTimeout(timer);
    timer = setTimeout(() => {
      // Bytes are waiting for the reader, which takes long: what came after them is not known.
      if ((controller.desiredSize ?? 0) <= 0) return restartTimer(controller);
      controller.error(new TypeError(`it was silent for ${silenceMs / 1_000} s`));
    }, silenceMs);
    // In browsers a timer is a number; in Node it must not keep the process alive.
    if (typeof timer === "object") timer.unref();
  }
  return new TransformStream<T, T>(
    {
      start: restartTimer,
      transform(chunk, controller) {
        restartTimer(controller);
        controller.enqueue(chunk);
      },
      flush: () => clearTimeout(timer),
    },
    undefined,
    { highWaterMark: 1 },
  );
}
