import type { IncomingMessage, ServerResponse } from "node:http";
import { type NodeIncomingMessageLike, toNodeHandler } from "@modelcontextprotocol/node";
import {
  type AuthInfo,
  type CallToolResult,
  createMcpHandler,
  type McpHttpHandler,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
  type Transport,
  validateHostHeader,
  validateOriginHeader,
} from "@modelcontextprotocol/server";
import { stringifyExactJson } from "@planwright/plan";
import { SpanKind, type TraceOrigin } from "@planwright/runtime";
import { type RequestHandler, type Response, Router } from "express";
import { z } from "zod";
import type { CredentialWatch } from "../access/credential-watch.ts";
import type { Caller } from "../access/gate.ts";
import { type ApiErrorCode, isApiErrorCode } from "../errors/api-error.ts";
import { MAX_BODY_BYTES, ParserErrorSchema } from "../errors/format-error.ts";
import { type ApiLogger, incomingTrace, noteLogFacts } from "../errors/telemetry.ts";
import type { Pipeline } from "../graphql/pipeline.ts";
import { readExactJson, withExactNumbers } from "../http/exact-numbers.ts";
import type { GraphqlContext } from "../operation/context.ts";
import { createFacadeTools, type FacadeTool, NEEDS_OF_TOOL } from "./facade-tools.ts";

/** Dependencies of {@link serveMcp}. */
interface McpDependencies extends Omit<FacadeDependencies, "context"> {
  /** Context of a call; its result may be at most half of an answer, because it is sent twice. */
  context: (caller: Caller, signal: AbortSignal) => GraphqlContext;
  /** The caller of a request. */
  callerOf: (request: IncomingMessage) => Caller;
  /** Host names of this service besides loopback. */
  hosts: readonly string[];
  logger: ApiLogger;
}

const LOCAL_NAMES = ["127.0.0.1", "localhost", "[::1]"];

const RefusalSchema = z.looseObject({ error: z.looseObject({ code: z.number(), message: z.string() }) });

/**
 * Answers MCP over streamable HTTP, for clients of old and new protocol versions. Pages of other origins are
 * refused.
 */
export function serveMcp({ hosts, logger, context, callerOf, ...facade }: McpDependencies): RequestHandler {
  const names = [...LOCAL_NAMES, ...hosts];
  const requests = new WeakMap<AuthInfo, { caller: Caller; response: ServerResponse }>();
  // Also called for errors of clients, so it logs as info. Our own errors are answered with 500 and logged
  // below.
  const onerror = (error: Error): void => logger.info({ err: error }, "MCP: a message was refused");
  const handler = createMcpHandler(
    ({ authInfo }) => {
      const request = authInfo && requests.get(authInfo);
      if (!request) throw new TypeError("a tool call bypassed the gate");
      const { caller, response } = request;
      return createFacadeServer({
        ...facade,
        context(signal) {
          const made = context(caller, signal);
          if (response.closed) made.bytes.release();
          else response.once("close", () => made.bytes.release());
          return made;
        },
      });
    },
    { onerror },
  );
  const answer = explaining(handler, logger);
  const fetch: typeof answer = async (request, options) => withExactNumbers(await answer(request, options));
  const serve = toNodeHandler({ fetch }, { onerror });
  const router = Router();
  router.use((request, response, next) => {
    const { host, origin } = request.headers;
    const refusal = [validateHostHeader(host, names), validateOriginHeader(origin, names)].find(
      ({ ok }) => !ok,
    );
    if (!refusal || refusal.ok) return next();
    sendRpcError(response, 403, ProtocolErrorCode.InvalidRequest, refusal.message);
  });
  router.use(readMessage());
  router.use(async (request, response) => {
    const caller = callerOf(request);
    const auth: AuthInfo = { token: "", clientId: caller.name, scopes: [...caller.scopes] };
    requests.set(auth, { caller, response });
    // The adapter's type differs only in its optional fields.
    await serve(Object.assign(request as NodeIncomingMessageLike, { auth }), response, request.body);
  });
  return router;
}

/** Adds code and remedy to refusals that the protocol makes before a server is called. */
function explaining({ fetch }: McpHttpHandler, logger: ApiLogger): McpHttpHandler["fetch"] {
  return async (request, options) => {
    const response = await fetch(request, options);
    if (response.status >= 500) logger.error({ status: response.status }, "MCP: a message was not answered");
    if (response.ok || !response.headers.get("content-type")?.startsWith("application/json")) return response;
    const body = RefusalSchema.safeParse(await response.json());
    const error = body.success
      ? explained(body.data.error, response.status)
      : explained(
          { code: ProtocolErrorCode.InvalidRequest, message: "The message is refused" },
          response.status,
        );
    const { status, headers } = response;
    headers.delete("content-length");
    return Response.json({ jsonrpc: "2.0", id: null, ...body.data, error }, { status, headers });
  };
}

/**
 * Deepest nesting of a message, far more than plans and facts need. The SDK processes messages by recursion.
 */
const MAX_DEPTH = 500;

const MESSAGES: Readonly<Record<number, string>> = {
  413: "The body is larger than 1 MiB",
  415: "The body has a character set or an encoding that is not accepted",
};

/** Answers with a JSON-RPC error without a message id. */
function sendRpcError(response: Response, status: number, code: number, message: string): void {
  const error = explained({ code, message }, status);
  response.status(status).json({ jsonrpc: "2.0", id: null, error });
}

/**
 * Reads one message into the body of the request, with null params left out. A batch is refused: it would count as one operation for the
 * rate limit, and the protocol has no batches since 2025-06-18.
 */
function readMessage(): RequestHandler {
  const parse = readExactJson({ limit: MAX_BODY_BYTES, strict: false });
  return (request, response, next) =>
    parse(request, response, (error?: unknown) => {
      if (error === undefined) {
        const refusal = refusalOf(request.body);
        if (refusal === undefined) {
          request.body = withoutNullParams(request.body);
          return next();
        }
        return sendRpcError(response, 400, ProtocolErrorCode.InvalidRequest, refusal);
      }
      const parsed = ParserErrorSchema.safeParse(error);
      if (!parsed.success) return next(error);
      const { status } = parsed.data;
      // The rest of the body stays unread.
      if (status === 413) response.set("connection", "close");
      const code = status === 400 ? ProtocolErrorCode.ParseError : ProtocolErrorCode.InvalidRequest;
      sendRpcError(response, status, code, MESSAGES[status] ?? "The body is not JSON");
    });
}

function refusalOf(message: unknown): string | undefined {
  if (Array.isArray(message)) return "Batches are not supported";
  return isDeeper(message, MAX_DEPTH)
    ? `The message is nested more than ${MAX_DEPTH} levels deep`
    : undefined;
}

/**
 * A message in which null params are absent: many clients write null for what they do not set. The arguments of a
 * call stay as they are, because a tool may accept null there.
 */
function withoutNullParams(message: unknown): unknown {
  if (!isObject(message) || !("params" in message)) return message;
  const { params, ...rest } = message;
  if (params === null) return rest;
  if (!isObject(params)) return message;
  const { arguments: given, ...others } = params;
  return {
    ...rest,
    params: { ...dropNulls(others), ...(given === undefined || given === null ? {} : { arguments: given }) },
  };
}

function dropNulls(value: { [name: string]: unknown }): { [name: string]: unknown } {
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]) => {
      if (inner === null) return [];
      return [[name, isObject(inner) ? dropNulls(inner) : inner]];
    }),
  );
}

function isObject(value: unknown): value is { [name: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Works level by level, so that deep nesting cannot exhaust the stack. */
function isDeeper(value: unknown, maxDepth: number): boolean {
  let level = [value];
  for (let depth = 0; depth <= maxDepth; depth += 1) {
    level = level.flatMap((one) => (typeof one === "object" && one !== null ? Object.values(one) : []));
    if (level.length === 0) return false;
  }
  return true;
}

/** Dependencies of {@link createFacadeServer}. */
interface FacadeDependencies {
  context: (signal: AbortSignal) => GraphqlContext;
  pipeline: Pick<Pipeline, "admit" | "formatError">;
  /** Ends calls that wait when their credential ends. */
  credentials: Pick<CredentialWatch, "follow">;
  /**
   * How long a call waits for the end of its request, in milliseconds. Default 600,000; the plan continues
   * afterwards.
   */
  waitMs?: number | undefined;
}

const WAIT_MS = 600_000;
/** A result is sent twice, as an object and as text. */
const COPIES = 2;

/** Adds code and remedy to errors of the protocol, in their `data`. */
class ExplainingServer extends Server {
  override async connect(transport: Transport): Promise<void> {
    const send = transport.send.bind(transport);
    transport.send = (message, options) =>
      send("error" in message ? { ...message, error: explained(message.error) } : message, options);
    await super.connect(transport);
  }
}

/** A new MCP server for the operations of this service; one for each HTTP request. */
function createFacadeServer({
  context,
  pipeline,
  credentials,
  waitMs = WAIT_MS,
}: FacadeDependencies): Server {
  const server = new ExplainingServer(
    { name: "planwright", version: "0.1.0" },
    {
      capabilities: { tools: { listChanged: false } },
      instructions:
        "Executes complete plans of tool calls to the end, even when processes crash. Only the requested outputs are returned.",
    },
  );
  const tools = createFacadeTools({ waitMs, credentials });
  server.setRequestHandler("tools/list", () => ({ tools: [...tools.values()].map(({ listed }) => listed) }));
  server.setRequestHandler("tools/call", ({ params }, call) => {
    const tool = tools.get(params.name);
    if (!tool) {
      context(call.mcpReq.signal).operation.ended("BAD_USER_INPUT");
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, "There is no tool with this name", {
        code: "BAD_USER_INPUT",
        retryable: false,
        remedy: `Call one of ${[...tools.keys()].join(", ")}.`,
      });
    }
    return answer(call, tool, params.arguments);
  });

  /** Calls a tool if the caller has its scope. @returns its result or its error */
  async function answer(
    call: ServerContext,
    tool: FacadeTool,
    given: Record<string, unknown> | undefined,
  ): Promise<CallToolResult> {
    const { name } = tool.listed;
    const parts = context(call.mcpReq.signal);
    const { operation } = parts;
    operation.begin(name, {
      name: `tools/call ${name}`,
      kind: SpanKind.SERVER,
      parent: traceOf(call),
      attributes: { "mcp.method.name": "tools/call", "gen_ai.tool.name": name },
    });
    try {
      await pipeline.admit(parts, NEEDS_OF_TOOL[name]);
      const { report, isError } = await tool.call(parts, given, call);
      const content = textOf(report);
      const sizeBytes = Buffer.byteLength(content.text);
      await parts.bytes.making(sizeBytes);
      await parts.bytes.sending(COPIES * sizeBytes);
      operation.ended();
      return { ...(isError ? { isError } : {}), structuredContent: report, content: [content] };
    } catch (error) {
      noteLogFacts(error, operation.logFacts());
      const { message, extensions = {} } = pipeline.formatError({ message: "" }, error);
      operation.ended(String(extensions["code"]));
      return { isError: true, content: [textOf({ message, ...extensions })] };
    } finally {
      parts.releaseSlot?.();
    }
  }

  return server;
}

/** The trace in `_meta` of the call; otherwise that of the HTTP headers, which a proxy may have set. */
function traceOf({ mcpReq, http }: ServerContext): TraceOrigin | undefined {
  const meta: Readonly<Record<string, unknown>> = mcpReq._meta ?? {};
  return incomingTrace((name) => meta[name]) ?? incomingTrace((name) => http?.req?.headers.get(name));
}

function textOf(value: object): { type: "text"; text: string } {
  return { type: "text", text: stringifyExactJson(value) };
}

/** An error of JSON-RPC. */
interface RpcError {
  code: number;
  message: string;
  data?: unknown;
}

/** Codes for refusals that the protocol distinguishes only by their HTTP status. */
const BY_STATUS: Readonly<Record<number, ApiErrorCode>> = {
  403: "FORBIDDEN",
  405: "METHOD_NOT_ALLOWED",
  413: "PAYLOAD_TOO_LARGE",
  415: "UNSUPPORTED_MEDIA_TYPE",
};

const REMEDY: Partial<Record<ApiErrorCode, string>> = {
  BAD_REQUEST:
    "Send one JSON-RPC 2.0 message with a method of MCP, as POST with accept: application/json, text/event-stream.",
  BAD_USER_INPUT:
    "Give the params that MCP requires: for tools/call the name of a tool and an object of arguments.",
  FORBIDDEN: "Use a host name of this machine, or one that the operator lists in MCP_HOSTS.",
  INTERNAL: "Report it to the operator: the cause is in the log.",
  METHOD_NOT_ALLOWED: "Send messages as POST; GET opens no streams.",
  PAYLOAD_TOO_LARGE: "Send a smaller plan: 1 MiB is accepted.",
  UNSUPPORTED_MEDIA_TYPE: "Set content-type: application/json, as UTF-8.",
};

/**
 * Adds to the `data` of a protocol error the common fields of all errors of this service: a code of the
 * closed list, `retryable`, and a remedy. An error that has a code is returned unchanged. Pure.
 * @param status - the HTTP status, for refusals that differ only by it
 */
function explained<T extends RpcError>(error: T, status?: number): T {
  const data = typeof error.data === "object" ? error.data : null;
  if (data && "code" in data && isApiErrorCode(data.code)) return error;
  const misfit = misfitIn(error.message);
  // The SDK calls some wrong params an internal error.
  const rpcCode = misfit === undefined ? error.code : ProtocolErrorCode.InvalidParams;
  const code = BY_STATUS[status ?? 0] ?? codeOf(rpcCode);
  const message = misfit ?? error.message;
  return {
    ...error,
    code: rpcCode,
    message,
    data: { ...data, code, retryable: false, remedy: REMEDY[code] },
  };
}

const IssuesSchema = z.array(
  z.object({ path: z.array(z.union([z.string(), z.number()])), message: z.string() }),
);
/** Longest message: it quotes names and values of the caller. */
const MAX_MESSAGE = 300;

/**
 * The first wrong field, of a message in which the SDK lists all problems of its schema as JSON in many lines;
 * undefined for other messages.
 */
function misfitIn(message: string): string | undefined {
  if (!message.includes("\n")) return undefined;
  const [first] = issuesIn(message);
  if (!first) return "The params do not fit the method";
  const problem = first.message
    .replace(/^Invalid input: /, "")
    .replace(/^.*, received undefined$/, "is missing");
  return `${first.path.join(".") || "params"}: ${problem}`.slice(0, MAX_MESSAGE);
}

function issuesIn(message: string): z.output<typeof IssuesSchema> {
  try {
    return IssuesSchema.parse(JSON.parse(message.slice(message.indexOf("["))));
  } catch {
    // A list of another form, or no list: the answer then names no field.
    return [];
  }
}

function codeOf(code: number): ApiErrorCode {
  if (code === ProtocolErrorCode.InternalError) return "INTERNAL";
  return code === ProtocolErrorCode.InvalidParams ? "BAD_USER_INPUT" : "BAD_REQUEST";
}
