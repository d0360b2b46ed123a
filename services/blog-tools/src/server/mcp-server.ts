import { type CallToolResult, ProtocolError, ProtocolErrorCode, Server } from "@modelcontextprotocol/server";
import { z } from "zod";
import { idempotencyKeyOf } from "../database/once.ts";
import type { BlogDatabase } from "../database/open-blog-database.ts";
import { ArgumentsInvalidError, ToolRefusal } from "../refusals/tool-refusal.ts";
import { allTools } from "../tools/all-tools.ts";
import type { BlogTool } from "../tools/blog-tool.ts";
import type { CallOutcome, CountCall } from "./tool-metrics.ts";

/** Where tools declare their contract. */
const CONTRACT_META = "x-orchestration";

/** Dependencies of the MCP server. */
export interface BlogServerOptions {
  database: BlogDatabase;
  /** Called for failures that the caller did not cause. Their text never reaches the caller. */
  onError: (error: unknown, tool: string) => void;
  /** Called for every call. Default: nothing is counted. */
  countCall?: CountCall | undefined;
}

const JSON_SCHEMA = z.looseObject({ type: z.literal("object"), required: z.array(z.string()).optional() });
const toolsByName = new Map(allTools.map((tool) => [tool.name, tool]));
/** The answer of `tools/list`; made once, because there is a server for each request. */
const listedTools = allTools.map(toListedTool);

/**
 * An MCP server that offers all tools; one for each connection or request.
 *
 * It uses the lower-level server of the SDK, because the higher-level one turns every failure into a tool
 * result. Here a refusal of the tool is such a result, and nothing has changed. A failure of MongoDB is a
 * protocol error (-32603): it is unknown whether something has changed, and a repeat with the same
 * idempotency key finds out.
 */
export function createBlogServer({ database, onError, countCall }: BlogServerOptions): Server {
  const server = new Server(
    { name: "blog-tools", title: "Blog tools", version: "0.1.0" },
    {
      capabilities: { tools: { listChanged: false } },
      instructions:
        "Authors write blogs; comments and pictures belong to blogs. Create tools return the new thing with its _id.",
    },
  );
  server.setRequestHandler("tools/list", () => ({ tools: listedTools }));
  server.setRequestHandler("tools/call", async ({ params }): Promise<CallToolResult> => {
    const tool = toolsByName.get(params.name);
    const startedAt = performance.now();
    const count = (outcome: CallOutcome): void =>
      countCall?.(tool?.name ?? "unknown", outcome, performance.now() - startedAt);
    if (tool === undefined) {
      count("refused");
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Tool ${params.name} not found`);
    }
    try {
      const input = parseArguments(tool, params.arguments ?? {});
      const output = await tool.run(input, { database, key: idempotencyKeyOf(params._meta) });
      count("ok");
      return { structuredContent: output, content: [{ type: "text", text: JSON.stringify(output) }] };
    } catch (error) {
      if (error instanceof ToolRefusal) {
        count("refused");
        return { isError: true, content: [{ type: "text", text: error.message }] };
      }
      count("failed");
      onError(error, tool.name);
      const message = `${tool.name} failed for an internal reason; whether it changed anything is not known`;
      throw new ProtocolError(ProtocolErrorCode.InternalError, message);
    }
  });
  return server;
}

function parseArguments(tool: BlogTool, given: Record<string, unknown>): unknown {
  const parsed = tool.input.safeParse(given);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message, code }) => {
    const field = path.join(".");
    const isMissing = code === "invalid_type" && path.length === 1 && !Object.hasOwn(given, field);
    return `${field === "" ? "" : `${field}: `}${isMissing ? "is missing" : message}`;
  });
  throw new ArgumentsInvalidError(tool.name, problems);
}

function toListedTool({ name, title, description, input, output, annotations, contract }: BlogTool) {
  return {
    name,
    title,
    description,
    inputSchema: JSON_SCHEMA.parse(z.toJSONSchema(input, { io: "input" })),
    outputSchema: JSON_SCHEMA.parse(z.toJSONSchema(output)),
    annotations: { title, ...annotations },
    _meta: { [CONTRACT_META]: contract },
  };
}
