import {
  type CallToolResult,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
  type Transport,
} from "@modelcontextprotocol/server";
import { stringifyExactJson } from "@planwright/plan";
import { SpanKind, type TraceOrigin } from "@planwright/runtime";
import { requireScope } from "../access/caller.ts";
import type { CredentialWatch } from "../access/credential-watch.ts";
import type { FormatError } from "../errors/masked-errors.ts";
import type { Admission } from "../load/admission.ts";
import type { GraphqlContext } from "../operation/context.ts";
import { noteLogFacts } from "../telemetry/api-logger.ts";
import type { ApiMetrics } from "../telemetry/api-metrics.ts";
import { incomingTrace } from "../telemetry/incoming-trace.ts";
import { explained } from "./explained.ts";
import { createFacadeTools, type FacadeTool, SCOPE_OF_TOOL } from "./facade-tools.ts";
import { reportAtRest } from "./report-at-rest.ts";

/** Dependencies of {@link createFacadeServer}. */
export interface FacadeDependencies {
  context: (signal: AbortSignal) => GraphqlContext;
  admission: Admission;
  formatError: FormatError;
  /** Ends calls that wait when their credential ends. */
  credentials: Pick<CredentialWatch, "follow">;
  /** Counts every tool call. */
  metrics: Pick<ApiMetrics, "answered">;
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
export function createFacadeServer({
  context,
  admission,
  formatError,
  credentials,
  metrics,
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
  const tools = createFacadeTools({
    admission,
    report: (parts, requestId, how) => reportAtRest(parts, requestId, { ...how, waitMs, credentials }),
  });
  server.setRequestHandler("tools/list", () => ({ tools: [...tools.values()].map(({ listed }) => listed) }));
  server.setRequestHandler("tools/call", ({ params }, call) => {
    const tool = tools.get(params.name);
    if (!tool) {
      metrics.answered("invalid", "BAD_USER_INPUT", 0);
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
    const startedAt = performance.now();
    const ended = (code?: string): void => {
      operation.ended(code);
      metrics.answered(name, code ?? "OK", performance.now() - startedAt);
    };
    operation.begin({
      name: `tools/call ${name}`,
      kind: SpanKind.SERVER,
      parent: traceOf(call),
      attributes: { "mcp.method.name": "tools/call", "gen_ai.tool.name": name },
    });
    try {
      requireScope(parts.caller, SCOPE_OF_TOOL[name]);
      // An operation that has taken effect cannot be refused.
      if (SCOPE_OF_TOOL[name] !== "read") parts.bytes.waitWithoutTimeout();
      const { report, isError } = await tool.call(parts, given, call);
      const content = textOf(report);
      const sizeBytes = Buffer.byteLength(content.text);
      await parts.bytes.making(sizeBytes);
      await parts.bytes.sending(COPIES * sizeBytes);
      ended();
      return { ...(isError ? { isError } : {}), structuredContent: report, content: [content] };
    } catch (error) {
      noteLogFacts(error, operation.logFacts());
      const { message, extensions = {} } = formatError({ message: "" }, error);
      ended(String(extensions["code"]));
      return { isError: true, content: [textOf({ message, ...extensions })] };
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
