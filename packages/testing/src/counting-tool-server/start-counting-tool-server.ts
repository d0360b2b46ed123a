import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createRequire } from "node:module";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { type NodeIncomingMessageLike, toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler } from "@modelcontextprotocol/server";
import { isJsonObject, type JsonObject } from "@planwright/plan";
import {
  type CountingCore,
  createCountingCore,
  createCountingMcpServer,
  EXCHANGE_META,
  type Exchange,
  keyOf,
  type ToolStats,
} from "./counting-core.ts";
import type { Behaviour, CountingTool, ScriptInput } from "./counting-tools.ts";
import {
  type CallLog,
  type LedgerEntry,
  NO_CALL_LOG,
  openCallLog,
  openEffectLedger,
  readLedger,
} from "./effect-ledger.ts";

/** Options of {@link startCountingToolServer}. */
export interface CountingToolServerOptions {
  /** File for the effects; each is on disk before its answer. */
  ledgerFile: string;
  /** File for every call and its answer, with and without effects; absent: no file. */
  callsFile?: string | undefined;
  /** Default 127.0.0.1. */
  host?: string | undefined;
  /** Default 0: a free port. */
  port?: number | undefined;
  script?: ScriptInput | undefined;
  /** Additional tools. */
  tools?: readonly CountingTool[] | undefined;
  /** True: it has only the tools of `tools`. */
  isOwnToolsOnly?: boolean | undefined;
}

/** A counting server over HTTP, in this process. */
export interface CountingToolServer {
  /** Address of the MCP endpoint. */
  url: string;
  port: number;
  /** Effects so far, from the file. */
  ledger(): Promise<LedgerEntry[]>;
  /** Adds behaviours for the next calls. */
  script(script: ScriptInput): void;
  stats(): Record<string, ToolStats>;
  /** Cuts all connections and stops, nodeRequest the death of the process. */
  close(): Promise<void>;
}

/**
 * Starts an MCP server whose tools only count: one tool for each effect class. In addition to `/mcp` it has
 * `POST /script` and `GET /stats`, for tests that run it as a separate process.
 */
export async function startCountingToolServer(
  options: CountingToolServerOptions,
): Promise<CountingToolServer> {
  const { ledgerFile, host = "127.0.0.1", port = 0 } = options;
  const ledger = await openEffectLedger(ledgerFile);
  const log = options.callsFile === undefined ? NO_CALL_LOG : openCallLog(options.callsFile);
  const core = createCountingCore(ledger, { ...options, log });
  core.script.add(options.script ?? {});
  const serveMcp = createMcpEndpoint(core, log);
  const server = createServer({ keepAliveTimeout: 65_000 }, (request, response) => {
    void route(request, response, core, serveMcp).catch((error: unknown) => {
      response.destroy(error instanceof Error ? error : undefined);
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  const address = server.address();
  const boundPort = typeof address === "object" && address !== null ? address.port : port;
  return {
    url: `http://${host}:${boundPort}/mcp`,
    port: boundPort,
    ledger: () => readLedger(ledgerFile),
    script: (script) => core.script.add(script),
    stats: () => core.stats(),
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
      await ledger.close();
    },
  };
}

type McpEndpoint = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

async function route(
  request: IncomingMessage,
  response: ServerResponse,
  core: CountingCore,
  serveMcp: McpEndpoint,
): Promise<void> {
  const answer = (status: number, body: unknown) => {
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  };
  switch (`${request.method} ${request.url}`) {
    case "GET /healthz":
      return answer(200, { ok: true });
    case "GET /stats":
      return answer(200, core.stats());
    case "POST /script":
      core.script.add(JSON.parse(await text(request)));
      return answer(200, { ok: true });
    default:
      if (request.url === "/mcp") return await serveMcp(request, response);
      return answer(404, { error: "not found" });
  }
}

/** Plays the behaviours of HTTP; the tools play the others. */
function createMcpEndpoint(core: CountingCore, log: CallLog): McpEndpoint {
  const exchanges = new Map<unknown, Exchange>();
  let nextId = 1;
  const handler = createMcpHandler(() => createCountingMcpServer(core, (id) => exchanges.get(id)));
  const serve = toNodeHandler(handler);
  return async (request, response) => {
    // The adapter's type differs only in how it declares optional fields.
    const nodeRequest = request as NodeIncomingMessageLike;
    if (request.method !== "POST") return await serve(nodeRequest, response);
    const message: unknown = JSON.parse(await text(request));
    const params = toolCallParams(message);
    if (params === undefined) return await serve(nodeRequest, response, message);

    const tool = typeof params["name"] === "string" ? params["name"] : "";
    const behaviour = core.script.take(tool);
    if (behaviour !== undefined && answerAsHttp(core, { tool, message }, behaviour, response)) {
      const key = keyOf(objectOf(params["_meta"]));
      return log.received({ tool, key, arguments: objectOf(params["arguments"]) })("error");
    }
    if (behaviour?.type === "odd-answer") {
      const call = { tool, arguments: objectOf(params["arguments"]), meta: objectOf(params["_meta"]) };
      const answer = await core.call({ ...call, signal: new AbortController().signal }, behaviour);
      const result = answer.type === "result" ? oddResult(answer.output, behaviour.form) : null;
      response.writeHead(200, { "content-type": "application/json" });
      return void response.end(JSON.stringify({ jsonrpc: "2.0", id: idOf(message), result }));
    }
    const id = nextId++;
    params["_meta"] = { ...(isJsonObject(params["_meta"]) ? params["_meta"] : {}), [EXCHANGE_META]: id };
    exchanges.set(id, { behaviour, cut: () => void request.socket.destroy() });
    response.once("close", () => exchanges.delete(id));
    await serve(nodeRequest, response, message);
  };
}

function toolCallParams(message: unknown): JsonObject | undefined {
  if (!isJsonObject(message) || message["method"] !== "tools/call") return undefined;
  return isJsonObject(message["params"]) ? message["params"] : undefined;
}

function objectOf(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

function idOf(message: unknown): unknown {
  return isJsonObject(message) ? message["id"] : null;
}

/** A result that the libraries of clients refuse, although the tool has acted. */
function oddResult(output: JsonObject, form: (Behaviour & { type: "odd-answer" })["form"]): JsonObject {
  if (form === "bare") return output;
  if (form === "text") return { content: JSON.stringify(output), structuredContent: null };
  return { content: null, structuredContent: output, isError: null, _meta: null };
}

/** Sends the HTTP answer of the behaviour. False when the behaviour has none. */
function answerAsHttp(
  core: CountingCore,
  { tool, message }: { tool: string; message: unknown },
  behaviour: Behaviour,
  response: ServerResponse,
): boolean {
  const json = { "content-type": "application/json" };
  if (behaviour.type === "status") {
    const { status, retryAfterSeconds } = behaviour;
    const headers = retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) };
    response.writeHead(status, { "content-type": "text/plain", ...headers }).end("scripted status");
  } else if (behaviour.type === "garbage") {
    response.writeHead(200, json).end("{ this is not JSON");
  } else if (behaviour.type === "protocol-error") {
    const id = idOf(message);
    const error = { code: behaviour.code, message: "scripted protocol error" };
    response.writeHead(200, json).end(JSON.stringify({ jsonrpc: "2.0", id, error }));
  } else return false;
  core.count(tool).calls += 1;
  return true;
}

/** Options of the counting server as a separate process. */
export interface CountingToolServerCommandOptions {
  ledgerFile: string;
  /** File for every call and its answer, with and without effects; absent: no file. */
  callsFile?: string | undefined;
  /** True: also the tools for lists. */
  lists?: boolean | undefined;
  /**
   * True: speaks MCP over standard input and output. False: listens, and prints one line of JSON `{url, port,
   * pid}`.
   */
  stdio?: boolean | undefined;
  port?: number | undefined;
  script?: ScriptInput | undefined;
  /** The program for Node, such as a bundle; absent: the source or build of this module. */
  main?: string | undefined;
}

/** The command line of the counting server, for `spawn` or for a stdio server in a servers file. */
export function countingToolServerCommand(options: CountingToolServerCommandOptions): {
  command: string;
  args: string[];
} {
  const isSource = options.main === undefined && import.meta.url.endsWith(".ts");
  const main = options.main ?? fileURLToPath(new URL(isSource ? "./main.ts" : "./main.js", import.meta.url));
  const loader = () => [
    "--import",
    createRequire(import.meta.url).resolve("tsx"),
    "-C",
    "@planwright/source",
  ];
  return {
    command: process.execPath,
    args: [
      ...(isSource ? loader() : []),
      main,
      "--ledger",
      options.ledgerFile,
      ...(options.callsFile === undefined ? [] : ["--calls", options.callsFile]),
      ...(options.lists ? ["--lists"] : []),
      ...(options.stdio ? ["--stdio"] : []),
      ...(options.port === undefined ? [] : ["--port", String(options.port)]),
      ...(options.script === undefined ? [] : ["--script", JSON.stringify(options.script)]),
    ],
  };
}
