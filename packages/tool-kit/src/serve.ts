import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { inspect } from "node:util";
import {
  hostHeaderValidation,
  type NodeIncomingMessageLike,
  originValidation,
  toNodeHandler,
} from "@modelcontextprotocol/node";
import {
  type CallToolResult,
  createMcpHandler,
  ProtocolError,
  ProtocolErrorCode,
  Server,
} from "@modelcontextprotocol/server";
import { serveStdio as serveMcpOverStdio } from "@modelcontextprotocol/server/stdio";
import {
  type CallContext,
  CallOpenError,
  EFFECT_META,
  IDEMPOTENCY_KEY_META,
  Refusal,
  type Tool,
} from "./define-tool.ts";
import { answerText } from "./once.ts";

/** A line of the log. `error` is an exception, whose text never reaches a client. */
export type Log = (
  message: string,
  facts: { tool?: string; key?: string; error?: unknown; [fact: string]: unknown },
) => void;

/** How a call ended: done, refused (nothing happened), or failed (it may have acted). */
export type CallOutcome = "ok" | "refused" | "failed";

/** What clients see of a server, and where it reports to. */
export interface ToolServerOptions {
  /** Default `tools`. */
  name?: string | undefined;
  /** Default the name. */
  title?: string | undefined;
  /** Default `0.0.0`. */
  version?: string | undefined;
  /** For models: what the tools are for. */
  instructions?: string | undefined;
  /** Default: JSON lines on standard error. */
  log?: Log | undefined;
  /** Called for every call that was answered; `tool` is `unknown` for any name that does not exist. */
  onCall?: ((tool: string, outcome: CallOutcome, durationMs: number) => void) | undefined;
}

/** Address and limits of {@link serveHttp}. */
export interface HttpOptions extends ToolServerOptions {
  /** 0 takes a free one. */
  port: number;
  /** Default 127.0.0.1: this machine only. There is no authentication. */
  host?: string | undefined;
  /**
   * Names that are allowed in the Host and Origin headers, beside those of this machine and `host`. Others get
   * 403, so that no web page reaches the tools through a browser (DNS rebinding).
   */
  allowedHosts?: readonly string[] | undefined;
  /** Largest request body, in bytes; larger ones get 413. Default 1 MiB. */
  maxBodyBytes?: number | undefined;
  /** Answers requests before the tools do, such as health checks, with any Host. False: not answered. */
  answerOther?: ((request: IncomingMessage, response: ServerResponse) => Promise<boolean>) | undefined;
  /** Aborted some time before `close()`: from then on connections end with the call under way. */
  stopping?: AbortSignal | undefined;
}

/** A server that accepts connections. */
export interface HttpToolServer {
  /** Address of the MCP endpoint. */
  url: string;
  /** Stops accepting connections, lets calls under way end (10 s at most), then resolves. */
  close(): Promise<void>;
}

const PATH = "/mcp";
const MAX_BODY_BYTES = 1_048_576;
const MAX_KEY_CHARS = 512;
const DRAIN_MS = 10_000;
const LOCAL_NAMES = ["localhost", "127.0.0.1", "[::1]"];

/**
 * Serves tools over standard input and output, to clients of both protocol eras. Standard output belongs to
 * the protocol: print nothing to it. The process ends by itself when the client closes standard input, unless
 * something else keeps it alive.
 */
export function serveStdio(
  tools: readonly Tool[],
  options: ToolServerOptions = {},
): { close(): Promise<void> } {
  const { log = logLine } = options;
  return serveMcpOverStdio(serverFactory(tools, options), {
    onerror: (error) => log("a message could not be processed", { error }),
  });
}

/**
 * Serves tools over streamable HTTP at `/mcp`, to clients of both protocol eras.
 * @throws when the address cannot be listened on
 */
export async function serveHttp(tools: readonly Tool[], options: HttpOptions): Promise<HttpToolServer> {
  const { host = "127.0.0.1", maxBodyBytes = MAX_BODY_BYTES, stopping, log = logLine } = options;
  const names = [...LOCAL_NAMES, bracketed(host), ...(options.allowedHosts ?? [])];
  const isHostAllowed = hostHeaderValidation(names);
  const isOriginAllowed = originValidation(names);
  const handler = createMcpHandler(serverFactory(tools, options), { maxRequestBodySize: maxBodyBytes });
  const serveMcp = toNodeHandler(handler, {
    maxRequestBodySize: maxBodyBytes,
    onerror: (error) => log("a message could not be processed", { error }),
  });
  let isClosing = false;
  const server = createServer({ requestTimeout: 30_000, keepAliveTimeout: 65_000 }, (request, response) => {
    response.once("finish", () => {
      if (isClosing || stopping?.aborted) setImmediate(() => server.closeIdleConnections());
    });
    void route(request, response).catch((error: unknown) => {
      log("a request could not be answered", { error });
      response.destroy();
    });
  });

  async function route(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (await options.answerOther?.(request, response)) return;
    if (request.url?.split("?", 1)[0] !== PATH) {
      response
        .writeHead(404, { "content-type": "text/plain" })
        .end(`not found; the MCP endpoint is ${PATH}\n`);
    } else if (isHostAllowed(request, response) && isOriginAllowed(request, response)) {
      // Differs from the type of the adapter only in how optional fields are declared.
      await serveMcp(request as NodeIncomingMessageLike, response);
    }
  }

  server.listen(options.port, host);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${bracketed(host)}:${port}${PATH}`,
    close: async () => {
      isClosing = true;
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      const deadline = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
      await closed;
      clearTimeout(deadline);
      await handler.close();
    },
  };
}

/**
 * Makes the server of the SDK for each connection or request. It is the lower-level one, because the
 * higher-level one answers every exception with `isError`, as if each of them were a refusal.
 */
function serverFactory(tools: readonly Tool[], options: ToolServerOptions): () => Server {
  const { name = "tools", title = name, version = "0.0.0", instructions, log = logLine, onCall } = options;
  const toolsByName = new Map(tools.map((tool) => [tool.name, tool]));
  const listed = tools.map((tool) => tool.listed);
  if (toolsByName.size < tools.length) throw new TypeError("Two tools of a server have the same name");
  return () => {
    const server = new Server(
      { name, title, version },
      {
        capabilities: { tools: { listChanged: false } },
        ...(instructions === undefined ? {} : { instructions }),
      },
    );
    server.setRequestHandler("tools/list", () => ({ tools: listed }));
    server.setRequestHandler("tools/call", async ({ params }, { mcpReq }): Promise<CallToolResult> => {
      const tool = toolsByName.get(params.name);
      const startedAt = performance.now();
      const count = (outcome: CallOutcome): void =>
        onCall?.(tool?.name ?? "unknown", outcome, performance.now() - startedAt);
      if (tool === undefined) {
        count("refused");
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Tool ${params.name} not found`);
      }
      const given = params.arguments ?? {};
      let key: string | undefined;
      try {
        key = idempotencyKeyOf(params._meta);
        const output: unknown = await tool.call(given, contextOf(tool, given, key, mcpReq.signal, log));
        const content = [{ type: "text" as const, text: answerText(output) }];
        count("ok");
        // Clients refuse a structured answer that is no object, and would lose that the call has acted.
        return isObject(output) ? { structuredContent: output, content } : { content };
      } catch (error) {
        if (error instanceof Refusal) {
          count("refused");
          return toRefusedResult(error);
        }
        count("failed");
        log("a tool failed", { ...factsOf(tool, key), error });
        throw new ProtocolError(ProtocolErrorCode.InternalError, openText(tool, error));
      }
    });
    return server;
  };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function openText({ name }: Tool, error: unknown): string {
  if (error instanceof CallOpenError) return error.message;
  return `${name} failed for an internal reason; whether it changed anything is not known`;
}

function toRefusedResult({ message, data }: Refusal): CallToolResult {
  return {
    isError: true,
    content: [{ type: "text", text: message }],
    ...(data === undefined ? {} : { structuredContent: data }),
    _meta: { [EFFECT_META]: "none" },
  };
}

function contextOf(
  tool: Tool,
  given: Readonly<Record<string, unknown>>,
  key: string | undefined,
  cancelled: AbortSignal,
  log: Log,
): CallContext {
  const { name, timeoutMs } = tool;
  return {
    tool: name,
    arguments: given,
    key,
    signal:
      timeoutMs === undefined ? cancelled : AbortSignal.any([cancelled, AbortSignal.timeout(timeoutMs)]),
    deadlineAt: timeoutMs === undefined ? undefined : new Date(Date.now() + timeoutMs),
    log: (message, more) => log(message, { ...more, ...factsOf(tool, key) }),
  };
}

function factsOf({ name }: Tool, key: string | undefined): { tool: string; key?: string } {
  return { tool: name, ...(key === undefined ? {} : { key }) };
}

/** The idempotency key of a call. @throws {Refusal} for a key that is not a text of 1 to 512 characters */
function idempotencyKeyOf(meta: Readonly<Record<string, unknown>> | undefined): string | undefined {
  const key = meta?.[IDEMPOTENCY_KEY_META] ?? undefined;
  if (key === undefined) return undefined;
  if (typeof key !== "string" || key.length === 0 || key.length > MAX_KEY_CHARS)
    throw new Refusal(`The idempotency key must be a text of 1 to ${MAX_KEY_CHARS} characters`);
  return key;
}

/** Standard output may belong to the protocol. A line never fails the call that writes it. */
function logLine(message: string, facts: Readonly<Record<string, unknown>>): void {
  const line = { time: new Date(), msg: message };
  process.stderr.write(`${jsonOf({ ...line, ...facts }) ?? jsonOf({ ...line, facts: inspect(facts) })}\n`);
}

/** Undefined for what is no JSON, such as a circular object. */
function jsonOf(facts: Readonly<Record<string, unknown>>): string | undefined {
  const shown = (_name: string, value: unknown): unknown => {
    // With its causes and the errors that it sums up.
    if (value instanceof Error) return inspect(value);
    return typeof value === "bigint" ? String(value) : value;
  };
  try {
    return JSON.stringify(facts, shown);
  } catch {
    return undefined;
  }
}

/** IPv6 addresses are in brackets in URLs and Host headers. */
function bracketed(host: string): string {
  return host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
}
