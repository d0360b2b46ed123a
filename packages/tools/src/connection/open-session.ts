import type { ChildProcess } from "node:child_process";
import { mkdirSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { StringDecoder } from "node:string_decoder";
import { setTimeout as delay } from "node:timers/promises";
import {
  type AuthProvider,
  Client,
  type JSONRPCMessage,
  type McpSubscription,
  ProtocolError,
  ProtocolErrorCode,
  SdkHttpError,
  SSEClientTransport,
  SseError,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { z } from "zod";
import type { ServerConfig } from "../config/load-servers-file.ts";
import {
  type CallTrace,
  createCallTrace,
  requestParts,
  TRACE_HEADER,
  type TraceOf,
  traceById,
} from "./call-trace.ts";
import { ServerUnreachableError, UnreadableAnswerError } from "./errors.ts";
import { type AddressGuard, createHttpFetch, type HttpFetch } from "./http-fetch.ts";
import {
  beginningOf,
  type LargeMessage,
  outcomeOfSent,
  type ReadLargeAnswer,
  type ReadLargeMessages,
  type ReceivedAnswer,
} from "./large-answer.ts";
import { createToolReader, type ListedTools } from "./listed-tools.ts";
import { MessageBuffer } from "./message-buffer.ts";
import { NoTokenError } from "./sign-in.ts";
import { requestOfUnreadable } from "./wire-messages.ts";

/** An answer may contain an output twice, as text and as structure, and escaped. */
const BYTES_READ_PER_OUTPUT_BYTE = 4;
const MAX_PAGES = 100;
/** How long a server that declares no tools may take to list some, in milliseconds. */
const UNDECLARED_TIMEOUT_MS = 2_000;
/** How long the tools are not listed because the subscription to their changes is not open yet, in milliseconds. */
const SUBSCRIBE_WAIT_MS = 1_000;
/** A stream of notifications that was open for less than this ended early, in milliseconds. */
const SHORT_STREAM_MS = 1_000;
/**
 * How long a server may take to say whether it supports the newest revision, in milliseconds. The question is
 * unknown to older servers: what they do with it decides nothing.
 */
const PROBE_TIMEOUT_MS = 1_000;
const PROBE = "server/discover";
/** Statuses with which a server that has only the older HTTP transport refuses `initialize`. */
const OLDER_TRANSPORT_STATUSES: readonly number[] = [400, 404, 405, 406, 415, 501];
/** After so many early ends in a row a server counts as unable to report changes of its tools. */
const MAX_EARLY_ENDS = 3;

/** A live connection to one server. */
export interface Session {
  readonly client: Client;
  /** True when a call is cancelled by closing its stream (streamable HTTP from revision 2026-07-28). */
  readonly cancelsByClosing: boolean;
  /** True when the server keeps state for this connection, under a session id. */
  readonly hasServerSession: boolean;
  /**
   * True while the server can report changes of its tools: a stream for that is open, or the server is our
   * child process.
   */
  hearsChanges(): boolean;
  /** True while no stream is open for changes of tools that the server reports according to its capabilities. */
  missesChanges(): boolean;
  /** A call begins; it must be ended with {@link end}. */
  begin(): CallTrace;
  end(trace: CallTrace): void;
  /** Asks the server for its tools, all pages within `timeoutMs`. @throws what the SDK throws */
  listTools(timeoutMs: number): Promise<ListedTools>;
  /** Closes when the last call in progress has ended. */
  retire(): void;
  /** Closes at once: calls in progress fail. */
  close(): Promise<void>;
}

/** What is known about a server and the question whether it supports the newest revision. */
interface ProbeMemory {
  /** True when the server ended at this question, so that it is asked last. */
  isHarmful: boolean;
}

/** How to open a session. */
interface SessionOptions {
  server: string;
  config: ServerConfig;
  /** For all requests to the server during the start, in milliseconds. */
  timeoutMs: number;
  maxTools: number;
  /** Largest output of a call, in bytes. */
  maxOutputBytes: number;
  /** Reads messages of more than 256 KiB. */
  readLarge: ReadLargeAnswer;
  /** The values that are masked in them. */
  secrets: () => readonly string[];
  /** What earlier attempts learned; changed by this one. */
  probe: ProbeMemory;
  /** Which addresses are permitted. Default: any. */
  addresses?: AddressGuard | undefined;
  /** Where the token for the server comes from. Default: none is sent. */
  authProvider?: AuthProvider | undefined;
  /** Folder of the folders in which stdio servers without `cwd` run. Default: they run in that of this process. */
  serversFolder?: string | undefined;
  signal: AbortSignal;
  /** The connection was lost. Called at most once, and not after `close()`. */
  onClosed: () => void;
  /** The server reports that its tools changed, or can no longer report it. */
  onToolsChanged: () => void;
  /** A line that a child process wrote to its standard error. */
  onStderr: (text: string) => void;
  /** The server sent something that is neither a message nor the answer to a request, such as a log line. */
  onStray: (text: string) => void;
  /** Called for errors that no caller gets otherwise. */
  onError: (error: Error) => void;
}

/** Any page. The tools are parsed one by one later, so that one bad tool does not hide the others. */
const ToolsPageSchema = z.looseObject({
  tools: z.array(z.unknown()).default([]),
  nextCursor: z
    .union([z.string().max(65_536), z.number()])
    .optional()
    .transform((cursor) => cursor?.toString()),
});

type Transport = StdioClientTransport | StreamableHTTPClientTransport | SSEClientTransport;

/** How to reach a server. */
type Way =
  | { type: "stdio" }
  /** With the time for the question whether it supports the newest revision; 0: it is not asked. */
  | { type: "streamable-http"; probeTimeoutMs: number }
  | { type: "sse" };

/**
 * Connects, by the newest protocol that both sides support. A server that refuses `initialize` over
 * streamable HTTP is tried over the older HTTP+SSE transport, and the other way round; one that did not say in
 * time whether it supports the newest revision, and refuses `initialize`, is asked again with more time.
 * @throws what the SDK throws for the first of these
 */
export async function openSession(options: SessionOptions): Promise<Session> {
  const { config, timeoutMs, signal } = options;
  if (config.type === "stdio") return await openBy({ type: "stdio" }, options);
  const deadline = performance.now() + timeoutMs;
  const probe: Probing = { wasIgnored: options.probe.isHarmful, wasLost: false };
  const newer: Way = {
    type: "streamable-http",
    probeTimeoutMs: options.probe.isHarmful ? 0 : PROBE_TIMEOUT_MS,
  };
  const older: Way = { type: "sse" };
  const isOlder = config.transport === "sse";
  try {
    return await openBy(isOlder ? older : newer, options, probe);
  } catch (error) {
    const later: Way[] = [];
    const isRefused = error instanceof ProtocolError || error instanceof SdkHttpError;
    // Some servers crash at the question: the next attempt is made without it.
    if (probe.wasLost && !isRefused) options.probe.isHarmful = true;
    if (isOlder && error instanceof SseError) later.push(newer);
    if (isRefused && probe.wasIgnored) later.push({ type: "streamable-http", probeTimeoutMs: timeoutMs });
    if (error instanceof SdkHttpError && OLDER_TRANSPORT_STATUSES.includes(error.status ?? 0))
      later.push(older);
    for (const way of later) {
      const restMs = Math.round(deadline - performance.now());
      if (signal.aborted || restMs <= 0) break;
      try {
        return await openBy(way, { ...options, timeoutMs: restMs });
      } catch (failure) {
        options.onError(toError(failure));
      }
    }
    throw error;
  }
}

/** What happened to the question whether a server supports the newest revision. */
interface Probing {
  /** It was not answered in time, or not asked. */
  wasIgnored: boolean;
  /** The connection was lost. */
  wasLost: boolean;
}

async function openBy(
  way: Way,
  options: SessionOptions,
  probe: Probing = { wasIgnored: false, wasLost: false },
): Promise<Session> {
  const traces = new Map<string, CallTrace>();
  /** Ids of the requests without an answer. */
  const waiting = new Set<RequestId>();
  const maxBytes = options.maxOutputBytes * BYTES_READ_PER_OUTPUT_BYTE;
  let isClosing = false;
  let isOpen = false;
  let earlyEnds = 0;
  const changed = () => {
    if (!isClosing) options.onToolsChanged();
  };
  const lost = () => {
    if (!isClosing && isOpen) options.onClosed();
    isClosing = true;
  };
  /** Changes after the stream ended were not reported, and the server may have been replaced. */
  const streamEnded = (livedMs: number) => {
    // Over the older transport this stream is the connection. The SDK would open another one without
    // `initialize`.
    if (way.type === "sse")
      return void client.close().catch((error: unknown) => options.onError(toError(error)));
    earlyEnds = livedMs < SHORT_STREAM_MS ? earlyEnds + 1 : 0;
    if (earlyEnds <= MAX_EARLY_ENDS) changed();
  };
  const traceOf: TraceOf = (id) => traceById(traces.values(), id);
  const onUnreadable = (error: UnreadableAnswerError, text: string, requestId?: RequestId) => {
    const id = requestId ?? requestOfUnreadable(text, waiting);
    if (id === undefined) return options.onStray(error.facts.excerpt);
    traceOf(id)?.fail(error);
    // No answer will come any more, so the SDK need not wait for one.
    const failure = { code: ProtocolErrorCode.ParseError, message: error.message };
    transport.onmessage?.({ jsonrpc: "2.0", id, error: failure });
  };
  const onlyWaiting = () => (waiting.size === 1 ? [...waiting][0] : undefined);
  const readLarge: ReadLargeMessages = async (message, reading) => {
    const asked = [...traces.values()].flatMap((trace) => {
      const { requestId, tool } = trace;
      return requestId === undefined || !tool ? [] : [{ trace, call: { requestId, ...tool } }];
    });
    const { maxOutputBytes } = options;
    const calls = asked.map(({ call }) => call);
    const read = options.readLarge({
      message,
      ...reading,
      calls,
      secrets: options.secrets(),
      maxOutputBytes,
    });
    // The time of a call ends with its answer, not with our reading of it.
    const ended = read.then(noteAnswers, () => undefined);
    for (const { trace } of asked) trace.reading = Promise.all([trace.reading, ended]).then(() => undefined);
    const answer = await read;
    if (!answer.ok) throw new UnreadableAnswerError(answer.reason, shownOf(message));
    return answer;
  };
  const noteAnswers = (read: ReceivedAnswer): void => {
    if (!read.ok) return;
    for (const [id, sent] of read.outcomes) {
      const trace = traceOf(id);
      if (trace) trace.answer = { outcome: outcomeOfSent(sent) };
    }
    for (const [id, error] of read.errors) {
      const trace = traceOf(id);
      if (trace) trace.answer = { error };
    }
  };
  const http = createHttpFetch(traces, {
    maxBytes,
    readLarge,
    addresses: options.addresses,
    onStreamEnd: streamEnded,
    onUnreadable,
    onlyWaiting,
    traceOf,
  });
  const transport = createTransport(way, options, {
    http,
    traces,
    buffer: new MessageBuffer({
      maxBytes,
      onlyWaiting,
      traceOf,
      onUnreadable,
      readLarge,
      deliver: (message) => transport.onmessage?.(message),
    }),
  });
  // The SDK keeps this handler beside its own.
  transport.onmessage = (message: JSONRPCMessage) => {
    if (!("method" in message) && message.id !== undefined) waiting.delete(idOf(message.id, waiting));
  };
  traceSends(transport, { traces, waiting });
  const stopProbing = limitProbe(transport, way, probe);
  const client = new Client(
    { name: "planwright", version: "0.1.0" },
    {
      // Over stdio, the probe for the newer protocol would start the server's process twice.
      ...(way.type === "streamable-http" ? { versionNegotiation: { mode: "auto" as const } } : {}),
      inputRequired: { autoFulfill: false },
    },
  );
  client.setNotificationHandler("notifications/tools/list_changed", changed);
  client.onerror = (error) => options.onError(error);
  client.onclose = lost;
  const close = async () => {
    isClosing = true;
    for (const trace of traces.values()) trace.stop?.();
    await client.close();
    http.close();
  };
  try {
    const connected = client.connect(transport, { timeout: options.timeoutMs, signal: options.signal });
    // While the SDK finds out which protocol a server uses, it ignores the signal.
    await unlessAborted(connected, options.signal, () => toError(options.signal.reason));
  } catch (error) {
    await close().catch((failure: unknown) => options.onError(toError(failure)));
    throw error;
  } finally {
    stopProbing();
  }
  isOpen = true;
  let nextTrace = 1;
  const isModern = way.type === "streamable-http" && client.getProtocolEra() === "modern";
  const sendsChanges = client.getServerCapabilities()?.tools?.listChanged === true;
  let subscription: McpSubscription | undefined;
  let subscribing: Promise<void> | undefined;
  const opened = (watched: McpSubscription) => {
    const openedAt = performance.now();
    subscription = watched;
    void watched.closed.then(() => {
      if (subscription === watched) subscription = undefined;
      streamEnded(performance.now() - openedAt);
    });
  };
  /**
   * Opens the subscription, or renews a lost one, for example after a restart of the server. This happens before the
   * tools are listed, so that no change between the two is missed; when the server is slow with it, they are listed
   * meanwhile and again after it.
   */
  const subscribe = async (timeout: number): Promise<void> => {
    if (!isModern || !sendsChanges || subscription || subscribing) return;
    let isListed = false;
    const opening = client.listen({ toolsListChanged: true }, { timeout, signal: options.signal });
    subscribing = opening
      .then(opened, (error: unknown) => options.onError(toError(error)))
      .then(() => {
        subscribing = undefined;
        if (isListed && subscription) changed();
      });
    const waiting = new AbortController();
    const wait = delay(SUBSCRIBE_WAIT_MS, undefined, { signal: waiting.signal }).catch(() => undefined);
    await Promise.race([subscribing, wait]);
    waiting.abort();
    isListed = true;
  };
  const hearsChanges = (): boolean =>
    way.type === "stdio" || (sendsChanges && (isModern ? subscription !== undefined : http.isListening()));
  const readTools = createToolReader(options.server, options.config, options.maxTools);
  let isRetired = false;
  const closeWhenIdle = () => {
    if (!isRetired || traces.size > 0 || isClosing) return;
    void close().catch((error: unknown) => options.onError(toError(error)));
  };
  return {
    client,
    cancelsByClosing: isModern,
    hasServerSession:
      transport instanceof StreamableHTTPClientTransport
        ? transport.sessionId !== undefined
        : way.type === "sse",
    hearsChanges,
    missesChanges: () => sendsChanges && !hearsChanges(),
    begin: () => {
      const trace = createCallTrace(String(nextTrace++));
      traces.set(trace.id, trace);
      return trace;
    },
    end: (trace) => {
      traces.delete(trace.id);
      if (trace.requestId !== undefined) waiting.delete(trace.requestId);
      trace.stop?.();
      closeWhenIdle();
    },
    retire: () => {
      isRetired = true;
      closeWhenIdle();
    },
    listTools: async (timeoutMs) => {
      const startedAt = performance.now();
      await subscribe(timeoutMs);
      return await listTools(client, readTools, options, timeoutMs - (performance.now() - startedAt));
    },
    close,
  };
}

/** The beginning of a message, for people. */
function shownOf(message: LargeMessage): string {
  return typeof message === "string" ? message : beginningOf(message, 4_096).toString("utf8");
}

function createTransport(
  way: Way,
  { server, config, serversFolder, authProvider, onStderr }: SessionOptions,
  {
    http,
    buffer,
    traces,
  }: { http: HttpFetch; buffer: MessageBuffer; traces: ReadonlyMap<string, CallTrace> },
): Transport {
  if (config.type === "http") {
    const settings = {
      requestInit: { headers: config.headers },
      fetch: http.fetch,
      ...(authProvider && { authProvider }),
    };
    const url = new URL(config.url);
    return way.type === "sse"
      ? new SSEClientTransport(url, settings)
      : new StreamableHTTPClientTransport(url, settings);
  }
  const cwd = config.cwd ?? (serversFolder === undefined ? undefined : folderOf(server, serversFolder));
  const transport = new StdioClientTransport({
    command: config.command,
    args: config.args,
    env: { ...localeOf(process.env), ...config.env },
    ...(cwd === undefined ? {} : { cwd }),
    stderr: "pipe",
  });
  // The SDK's own buffer drops a line that it cannot read, without a word about it. This field is private, so
  // a version of the SDK without it must fail here.
  if (!("_readBuffer" in transport)) throw new TypeError("The stdio transport of the SDK has no read buffer");
  Object.assign(transport, { _readBuffer: buffer });
  writeRequestParts(transport, traces);
  const decoder = new StringDecoder();
  transport.stderr?.on("data", (chunk: Buffer) => onStderr(decoder.write(chunk)));
  return transport;
}

/** The folder in which a server without `cwd` runs; made when absent, for this user alone. */
function folderOf(server: string, serversFolder: string): string {
  // Names may consist of dots.
  const folder = join(resolve(serversFolder), server.replace(/^\.+/, "_"));
  try {
    makeFolder(folder);
  } catch (error) {
    const reason = error instanceof Error && "code" in error ? String(error.code) : "unknown reason";
    const remedy = "set DATA_DIR to a folder that may be written, or its cwd in the servers file";
    throw new ServerUnreachableError(
      server,
      `its folder ${folder} cannot be made (${reason}); ${remedy}`,
      error,
    );
  }
  return folder;
}

/**
 * The `recursive` of Node is not used: where the system answers "no such file" although the parent exists, as
 * below /proc, it tries for ever.
 */
function makeFolder(folder: string): void {
  const isThere = (): boolean => statSync(folder, { throwIfNoEntry: false })?.isDirectory() ?? false;
  if (isThere()) return;
  makeFolder(dirname(folder));
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    // Another executor has made it meanwhile.
    if (!isThere()) throw error;
  }
}

/**
 * Exact numbers leave this process as their digits, which the SDK would write as texts, and large arguments as
 * their bytes.
 */
function writeRequestParts(transport: StdioClientTransport, traces: ReadonlyMap<string, CallTrace>): void {
  const start = transport.start.bind(transport);
  transport.start = async () => {
    await start();
    const child: ChildProcess | undefined = Reflect.get(transport, "_process");
    // This field is private, so a version of the SDK without it must fail here.
    if (!child?.stdin) throw new TypeError("The stdio transport of the SDK has no process");
    const write = child.stdin.write.bind(child.stdin);
    child.stdin.write = (text: string) => {
      const large = [...traces.values()].find(
        (trace) => trace.large && text.includes(trace.large.mark),
      )?.large;
      return requestParts(text, large).reduce<boolean>((_, part) => write(part), true);
    };
  };
}

/**
 * The variables of our environment that a child gets in addition to PATH, HOME, USER, LOGNAME, SHELL and
 * TERM, which the SDK passes.
 */
function localeOf({ LANG, TZ }: NodeJS.ProcessEnv): Record<string, string> {
  return { ...(LANG === undefined ? {} : { LANG }), ...(TZ === undefined ? {} : { TZ }) };
}

type RequestId = string | number;

/** The id as it was sent: some servers answer with the text of a number. */
function idOf(id: RequestId, waiting: ReadonlySet<RequestId>): RequestId {
  return waiting.has(id) || typeof id === "number" ? id : Number(id);
}

/**
 * Notes in the trace of a call that its request was given to the transport. Over stdio it then counts as
 * sent; over HTTP it counts when the connection is open. The SDK's own signal for ending one request is left
 * out: the trace does that, and combining signals for each call leaks memory on Node 20.
 */
function traceSends(
  transport: Transport,
  { traces, waiting }: { traces: ReadonlyMap<string, CallTrace>; waiting: Set<RequestId> },
): void {
  const send = transport.send.bind(transport) as Send;
  const traced: Send = (message, options) => {
    if ("id" in message && "method" in message && message.method !== PROBE)
      waiting.add(message.id as RequestId);
    const trace = traces.get(options?.headers?.[TRACE_HEADER] ?? "");
    if (trace === undefined || !("id" in message)) return send(message, options);
    trace.requestId = message.id as RequestId;
    if (transport instanceof StdioClientTransport) trace.sent = true;
    return send(message, { ...options, requestSignal: undefined });
  };
  transport.send = traced;
}

type SendOptions = { headers?: Readonly<Record<string, string>>; requestSignal?: AbortSignal | undefined };
type Send = (message: object, options?: SendOptions) => Promise<void>;

/**
 * Answers the question whether a server supports the newest revision with "no" when the server refuses it,
 * answers it with something else, or does not answer in time. The SDK would take most of that for a failure of
 * the server.
 * @param probe - gets what happened to it
 * @returns ends the wait for the answer
 */
function limitProbe(transport: Transport, way: Way, probe: Probing): () => void {
  if (way.type !== "streamable-http") return () => {};
  const stopping = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const send = transport.send.bind(transport) as Send;
  const limited: Send = async (message, options) => {
    if (!("method" in message) || message.method !== PROBE || !("id" in message))
      return await send(message, options);
    const id = message.id as RequestId;
    const refuse = () => {
      clearTimeout(timer);
      const error = { code: ProtocolErrorCode.MethodNotFound, message: "The question was not answered" };
      transport.onmessage?.({ jsonrpc: "2.0", id, error });
    };
    if (way.probeTimeoutMs === 0) return refuse();
    timer = setTimeout(() => {
      probe.wasIgnored = true;
      refuse();
      stopping.abort();
    }, way.probeTimeoutMs);
    // An answer in a stream comes later than this.
    await send(message, { ...options, requestSignal: stopping.signal }).catch((error: unknown) => {
      const isRefused = error instanceof SdkHttpError || error instanceof NoTokenError;
      probe.wasLost = !isRefused && !stopping.signal.aborted;
      refuse();
    });
  };
  transport.send = limited;
  return () => {
    clearTimeout(timer);
    if (!stopping.signal.aborted) stopping.abort();
  };
}

async function listTools(
  client: Client,
  readTools: ReturnType<typeof createToolReader>,
  { maxTools, signal }: Pick<SessionOptions, "maxTools" | "signal">,
  timeoutMs: number,
): Promise<ListedTools> {
  const listed: unknown[] = [];
  if (client.getServerCapabilities()?.tools === undefined) {
    // Some servers have tools and do not say so; one without them refuses the question.
    const request = { method: "tools/list", params: {} };
    const timeout = Math.min(timeoutMs, UNDECLARED_TIMEOUT_MS);
    const answer = await client.request(request, ToolsPageSchema, { timeout, signal }).catch(() => undefined);
    listed.push(...(answer?.tools ?? []));
    return readTools(listed, false);
  }
  const deadline = performance.now() + timeoutMs;
  const cursors = new Set<string>();
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const params = cursor === undefined ? {} : { cursor };
    const request = { method: "tools/list", params };
    const timeout = Math.max(1, Math.round(deadline - performance.now()));
    const answer = await client.request(request, ToolsPageSchema, { timeout, signal });
    listed.push(...answer.tools);
    cursor = answer.nextCursor;
    // An empty cursor, or one that was given before, would list the same pages again.
    const isLast = cursor === undefined || cursor === "" || cursors.has(cursor);
    if (isLast || listed.length > maxTools) return readTools(listed, !isLast);
    if (cursor !== undefined) cursors.add(cursor);
  }
  return readTools(listed, true);
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new ServerUnreachableError("", String(error), error);
}

/** Waits for a promise until the signal is aborted; then rejects with the error that `reasonOf` makes. */
export function unlessAborted<T>(
  promise: Promise<T>,
  signal: AbortSignal,
  reasonOf: () => Error,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(reasonOf());
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}
