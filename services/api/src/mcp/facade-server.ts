import {
  type CallToolResult,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
  type Transport,
} from "@modelcontextprotocol/server";
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

/** What the facade is made of. */
export interface FacadeDependencies {
  context: (signal: AbortSignal) => GraphqlContext;
  admission: Admission;
  formatError: FormatError;
  /** Tells when a call that waits has to end. */
  credentials: Pick<CredentialWatch, "follow">;
  /** Told of every call of a tool. */
  metrics: Pick<ApiMetrics, "answered">;
  /** Longest that a call waits for the end of its request, in milliseconds. Default 600,000; the plan goes on afterwards. */
  waitMs?: number | undefined;
}

const WAIT_MS = 600_000;
/** A result goes as an object and as text. */
const COPIES = 2;

/** What the protocol itself refuses goes out with code and remedy too, in the `data` of its errors. */
class ExplainingServer extends Server {
  override async connect(transport: Transport): Promise<void> {
    const send = transport.send.bind(transport);
    transport.send = (message, options) =>
      send("error" in message ? { ...message, error: explained(message.error) } : message, options);
    await super.connect(transport);
  }
}

/** A new MCP server over this service's own operations; one for each HTTP request. */
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
        "Executes whole plans of tool calls to the end, even when processes crash. Only the requested outputs are returned.",
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

  /** Gives what the operation gives, or why it cannot, to a caller that may use the tool. */
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
      // What was done cannot be refused any more.
      if (SCOPE_OF_TOOL[name] !== "read") parts.bytes.bePatient();
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

/** What the call itself says counts before the headers, which are those of the client that carries it. */
function traceOf({ mcpReq, http }: ServerContext): TraceOrigin | undefined {
  const meta: Readonly<Record<string, unknown>> = mcpReq._meta ?? {};
  return incomingTrace((name) => meta[name]) ?? incomingTrace((name) => http?.req?.headers.get(name));
}

function textOf(value: object): { type: "text"; text: string } {
  return { type: "text", text: JSON.stringify(value) };
}
