import { type CallToolResult, McpServer, type ServerContext } from "@modelcontextprotocol/server";
import type { JsonObject } from "@planwright/plan";
import { SpanKind, type TraceOrigin } from "@planwright/runtime";
import { z } from "zod";
import { requireScope } from "../access/caller.ts";
import type { GraphqlContext } from "../graphql/context.ts";
import { noteLogFacts } from "../graphql/log-facts.ts";
import { SCOPE_OF_TOOL } from "../graphql/required-scopes.ts";
import type { FormatError } from "../live/masked-errors.ts";
import type { RequestSnapshot } from "../live/request-feed.ts";
import type { Admission } from "../load/admission.ts";
import { submitPlan } from "../plans/submit-plan.ts";
import { cancelRequest } from "../requests/cancel.ts";
import { createPlan } from "../requests/create-plan.ts";
import { findRequest } from "../requests/find-request.ts";
import { incomingTrace } from "../tracing/incoming-trace.ts";
import { isAtRest, progressOf, reportOf } from "./request-report.ts";

/** What the facade is made of. */
export interface FacadeParts {
  context: (signal: AbortSignal) => GraphqlContext;
  admission: Admission;
  formatError: FormatError;
  /** Longest that a call waits for the end of its request, in milliseconds. Default 600,000; the plan goes on afterwards. */
  waitMs?: number | undefined;
}

const RequestIdSchema = z.string().max(100).describe("req_..., as an earlier call gave it");
const KeySchema = z
  .string()
  .min(1)
  .max(256)
  .optional()
  .describe(
    "Your own name for this submission: sent again within 24 h it gives the same request and does nothing twice",
  );
const WaitSchema = z.boolean().default(true).describe("false returns at once; get_request tells how it goes");

const WAIT_MS = 600_000;

/** A new MCP server over this service's own operations; one for each HTTP request. */
export function createFacadeServer({
  context,
  admission,
  formatError,
  waitMs = WAIT_MS,
}: FacadeParts): McpServer {
  const server = new McpServer(
    { name: "planwright", version: "0.1.0" },
    {
      capabilities: { tools: { listChanged: false } },
      instructions:
        "Hands whole plans of tool calls over to be executed to the end, whatever crashes. Only the requested outputs come back.",
    },
  );

  server.registerTool(
    "create_plan",
    {
      description:
        "Plans a sentence over the tools that Planwright knows, executes the plan, and gives the outputs of its last steps",
      inputSchema: z.strictObject({
        query: z.string().min(1).max(10_000).describe("What is to be done, in plain words"),
        execute: z.boolean().default(true).describe("false only plans"),
        wait: WaitSchema,
        idempotencyKey: KeySchema,
      }),
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
    },
    ({ wait, query, execute, idempotencyKey = null }, call) =>
      answer(call, "create_plan", async (parts) => {
        const request = await admitted(() => createPlan(parts, { query, execute, idempotencyKey }));
        return finished(parts, request._id, { call, wait });
      }),
  );

  server.registerTool(
    "execute_tool_plan",
    {
      description:
        "Executes a whole plan of tool calls with references such as <<step.field>> between them, and gives only the outputs that the plan names in outputs",
      inputSchema: z.strictObject({
        plan: z
          .looseObject({})
          .describe('{ "steps": [{ "id", "tool", "arguments", "dependsOn"? }], "outputs"?: [step ids] }'),
        wait: WaitSchema,
        idempotencyKey: KeySchema,
      }),
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
    },
    ({ plan, wait, idempotencyKey = null }, call) =>
      answer(call, "execute_tool_plan", async (parts) => {
        const request = await admitted(() => submitPlan(parts, { plan, execute: true, idempotencyKey }));
        return finished(parts, request._id, { call, wait });
      }),
  );

  server.registerTool(
    "get_request",
    {
      description: "Tells how a request stands: status, outputs, what failed, and what somebody has to say",
      inputSchema: z.strictObject({ requestId: RequestIdSchema }),
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    ({ requestId }, call) =>
      answer(call, "get_request", async (parts) => {
        const { _id } = await findRequest(parts, requestId);
        return finished(parts, _id, { call, wait: false });
      }),
  );

  server.registerTool(
    "cancel_request",
    {
      description:
        "Asks for the end of a request and returns at once: nothing new is called, and running calls are told to stop",
      inputSchema: z.strictObject({ requestId: RequestIdSchema }),
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
    },
    ({ requestId }, call) =>
      answer(call, "cancel_request", async (parts) => {
        const { _id } = await admittedOnly(() => cancelRequest(parts, requestId));
        return finished(parts, _id, { call, wait: false });
      }),
  );

  /** Runs an operation under the gate that mutations pass; waiting for its end holds no place. */
  async function admittedOnly<T>(run: () => Promise<T>): Promise<T> {
    const leave = admission.enter();
    try {
      return await run();
    } finally {
      leave();
    }
  }

  const admitted = <T>(makePlan: () => Promise<T>): Promise<T> =>
    admittedOnly(async () => {
      await admission.reserve();
      return makePlan();
    });

  /** Gives what the operation gives, or why it cannot, to a caller that may use the tool. */
  async function answer(
    call: ServerContext,
    tool: keyof typeof SCOPE_OF_TOOL,
    run: (parts: GraphqlContext) => Promise<JsonObject>,
  ): Promise<CallToolResult> {
    const parts = context(call.mcpReq.signal);
    const { operation } = parts;
    operation.begin({
      name: `tools/call ${tool}`,
      kind: SpanKind.SERVER,
      parent: traceOf(call),
      attributes: { "mcp.method.name": "tools/call", "gen_ai.tool.name": tool },
    });
    try {
      requireScope(parts.caller, SCOPE_OF_TOOL[tool]);
      const report = await run(parts);
      operation.ended();
      const isError = report["status"] === "FAILED" || report["status"] === "CANCELLED";
      return { ...(isError ? { isError } : {}), structuredContent: report, content: [textOf(report)] };
    } catch (error) {
      noteLogFacts(error, operation.logFacts());
      const { message, extensions = {} } = formatError({ message: "" }, error);
      operation.ended(String(extensions["code"]));
      return { isError: true, content: [textOf({ message, ...extensions })] };
    }
  }

  /** Follows a request, telling its progress, until it is at rest or the time is over. */
  async function finished(
    parts: GraphqlContext,
    requestId: RequestSnapshot["request"]["_id"],
    { call, wait }: { call: ServerContext; wait: boolean },
  ): Promise<JsonObject> {
    const states = await parts.feeds.follow(parts.tenant, requestId);
    const stop = (): void => void states.return?.();
    const timer = setTimeout(stop, waitMs);
    call.mcpReq.signal.addEventListener("abort", stop, { once: true });
    let last: RequestSnapshot | undefined;
    try {
      for await (const state of states) {
        last = state;
        if (!wait || isAtRest(state)) break;
        await tellProgress(call, state);
      }
    } finally {
      clearTimeout(timer);
      call.mcpReq.signal.removeEventListener("abort", stop);
      stop();
    }
    if (!last) return { requestId };
    parts.reads.primeSnapshot(last);
    return reportOf(last, await parts.reads.wholeSteps(last.request.planId));
  }

  return server;
}

/** What the call itself says counts before the headers, which are those of whoever carries it. */
function traceOf({ mcpReq, http }: ServerContext): TraceOrigin | undefined {
  const meta: Readonly<Record<string, unknown>> = mcpReq._meta ?? {};
  return incomingTrace((name) => meta[name]) ?? incomingTrace((name) => http?.req?.headers.get(name));
}

async function tellProgress({ mcpReq }: ServerContext, state: RequestSnapshot): Promise<void> {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return;
  const { done, total, message } = progressOf(state);
  const amount = total > 0 ? { progress: done, total } : { progress: done };
  await mcpReq.notify({ method: "notifications/progress", params: { progressToken, ...amount, message } });
}

function textOf(value: object): { type: "text"; text: string } {
  return { type: "text", text: JSON.stringify(value) };
}
