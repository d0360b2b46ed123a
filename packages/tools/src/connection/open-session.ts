import { Client, type McpSubscription, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { z } from "zod";
import type { ServerConfig } from "../config/server-config.ts";
import { type CallTrace, createCallTrace, TRACE_HEADER } from "./call-trace.ts";
import { ServerUnreachableError } from "./errors.ts";
import { type AddressGuard, createHttpFetch, type HttpFetch } from "./http-fetch.ts";
import { type ListedTools, readListedTools } from "./listed-tools.ts";
import { unlessAborted } from "./unless-aborted.ts";

/** An answer may contain an output twice, as text and as structure, and escaped. */
const BYTES_READ_PER_OUTPUT_BYTE = 4;
const MAX_PAGES = 100;
/** A stream of notifications that was open for less than this ended early, in milliseconds. */
const SHORT_STREAM_MS = 1_000;
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

/** How to open a session. */
export interface SessionOptions {
  server: string;
  config: ServerConfig;
  /** For all requests to the server during the start, in milliseconds. */
  timeoutMs: number;
  maxTools: number;
  /** Largest output of a call, in bytes. */
  maxOutputBytes: number;
  /** Which addresses are permitted. Default: any. */
  addresses?: AddressGuard | undefined;
  signal: AbortSignal;
  /** The connection was lost. Called at most once, and not after `close()`. */
  onClosed: () => void;
  /** The server reports that its tools changed, or can no longer report it. */
  onToolsChanged: () => void;
  /** A line that a child process wrote to its standard error. */
  onStderr: (text: string) => void;
  /** Called for errors that no caller gets otherwise. */
  onError: (error: Error) => void;
}

/** Any page. The tools are parsed one by one later, so that one bad tool does not hide the others. */
const ToolsPageSchema = z.looseObject({
  tools: z.array(z.unknown()),
  nextCursor: z.string().max(65_536).optional(),
});

/** Connects, by the newest protocol that both sides support. @throws what the SDK throws */
export async function openSession(options: SessionOptions): Promise<Session> {
  const { config } = options;
  const traces = new Map<string, CallTrace>();
  const maxBytes = options.maxOutputBytes * BYTES_READ_PER_OUTPUT_BYTE;
  let isClosing = false;
  let earlyEnds = 0;
  const changed = () => {
    if (!isClosing) options.onToolsChanged();
  };
  /** Changes after the stream ended were not reported, and the server may have been replaced. */
  const streamEnded = (livedMs: number) => {
    earlyEnds = livedMs < SHORT_STREAM_MS ? earlyEnds + 1 : 0;
    if (earlyEnds <= MAX_EARLY_ENDS) changed();
  };
  const http = createHttpFetch(traces, { maxBytes, addresses: options.addresses, onStreamEnd: streamEnded });
  const transport = createTransport(options, http);
  traceSends(transport, traces);
  const client = new Client(
    { name: "planwright", version: "0.1.0" },
    {
      // Over stdio, the probe for the newer protocol would start the server's process twice.
      ...(config.type === "http" ? { versionNegotiation: { mode: "auto" as const } } : {}),
      inputRequired: { autoFulfill: false },
      listChanged: {
        tools: { autoRefresh: false, debounceMs: 0, onChanged: changed },
      },
    },
  );
  client.onerror = (error) => options.onError(error);
  client.onclose = () => {
    if (!isClosing) options.onClosed();
    isClosing = true;
  };
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
  }
  let nextTrace = 1;
  const isModern = config.type === "http" && client.getProtocolEra() === "modern";
  const sendsChanges = client.getServerCapabilities()?.tools?.listChanged === true;
  let subscription = client.autoOpenedSubscription;
  const watch = (watched: McpSubscription) => {
    const openedAt = performance.now();
    void watched.closed.then(() => {
      if (subscription === watched) subscription = undefined;
      streamEnded(performance.now() - openedAt);
    });
  };
  if (subscription) watch(subscription);
  /**
   * Renews a lost subscription, for example after a restart of the server. This happens before the tools are
   * listed, so that no change between the two is missed.
   */
  const subscribe = async (timeout: number): Promise<void> => {
    if (!isModern || !sendsChanges || subscription) return;
    try {
      subscription = await client.listen({ toolsListChanged: true }, { timeout, signal: options.signal });
      watch(subscription);
    } catch (error) {
      options.onError(toError(error));
    }
  };
  let isRetired = false;
  const closeWhenIdle = () => {
    if (!isRetired || traces.size > 0 || isClosing) return;
    void close().catch((error: unknown) => options.onError(toError(error)));
  };
  return {
    client,
    cancelsByClosing: isModern,
    hasServerSession: transport instanceof StreamableHTTPClientTransport && transport.sessionId !== undefined,
    hearsChanges: () =>
      config.type === "stdio" ||
      (sendsChanges && (isModern ? subscription !== undefined : http.isListening())),
    begin: () => {
      const trace = createCallTrace(String(nextTrace++));
      traces.set(trace.id, trace);
      return trace;
    },
    end: (trace) => {
      traces.delete(trace.id);
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
      return await listTools(client, options, timeoutMs - (performance.now() - startedAt));
    },
    close,
  };
}

function createTransport(
  { config, maxOutputBytes, onStderr }: SessionOptions,
  http: HttpFetch,
): StdioClientTransport | StreamableHTTPClientTransport {
  if (config.type === "http") {
    return new StreamableHTTPClientTransport(new URL(config.url), {
      requestInit: { headers: config.headers },
      fetch: http.fetch,
    });
  }
  const transport = new StdioClientTransport({
    command: config.command,
    args: config.args,
    env: { ...localeOf(process.env), ...config.env },
    ...(config.cwd === undefined ? {} : { cwd: config.cwd }),
    stderr: "pipe",
    maxBufferSize: maxOutputBytes * BYTES_READ_PER_OUTPUT_BYTE,
  });
  transport.stderr?.on("data", (chunk: Buffer) => onStderr(chunk.toString("utf8")));
  return transport;
}

/**
 * The variables of our environment that a child gets in addition to PATH, HOME, USER, LOGNAME, SHELL and
 * TERM, which the SDK passes.
 */
function localeOf({ LANG, TZ }: NodeJS.ProcessEnv): Record<string, string> {
  return { ...(LANG === undefined ? {} : { LANG }), ...(TZ === undefined ? {} : { TZ }) };
}

/**
 * Notes in the trace of a call that its request was given to the transport. Over stdio it then counts as
 * sent; over HTTP it counts when the connection is open. The SDK's own signal for ending one request is left
 * out: the trace does that, and combining signals for each call leaks memory on Node 20.
 */
function traceSends(
  transport: StdioClientTransport | StreamableHTTPClientTransport,
  traces: ReadonlyMap<string, CallTrace>,
): void {
  type Options = { headers?: Readonly<Record<string, string>>; requestSignal?: AbortSignal | undefined };
  type Send = (message: object, options?: Options) => Promise<void>;
  const send = transport.send.bind(transport) as Send;
  const traced: Send = (message, options) => {
    const trace = traces.get(options?.headers?.[TRACE_HEADER] ?? "");
    if (trace === undefined || !("id" in message)) return send(message, options);
    trace.requestId = message.id as string | number;
    if (transport instanceof StdioClientTransport) trace.sent = true;
    return send(message, { ...options, requestSignal: undefined });
  };
  transport.send = traced;
}

async function listTools(
  client: Client,
  { server, config, maxTools, signal }: SessionOptions,
  timeoutMs: number,
): Promise<ListedTools> {
  const listed: unknown[] = [];
  const read = (isCut: boolean) => readListedTools(server, config, listed, { maxTools, isCut });
  if (client.getServerCapabilities()?.tools === undefined) return read(false);
  const deadline = performance.now() + timeoutMs;
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const params = cursor === undefined ? {} : { cursor };
    const request = { method: "tools/list", params };
    const timeout = Math.max(1, Math.round(deadline - performance.now()));
    const answer = await client.request(request, ToolsPageSchema, { timeout, signal });
    listed.push(...answer.tools);
    cursor = answer.nextCursor;
    if (listed.length > maxTools) return read(cursor !== undefined);
    if (cursor === undefined) return read(false);
  }
  return read(true);
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new ServerUnreachableError("", String(error), error);
}
