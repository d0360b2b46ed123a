import { type CallToolResult, McpServer } from "@modelcontextprotocol/server";
import type { BlogDatabase } from "./database.ts";
import { ToolRefusal } from "./errors.ts";
import { idempotencyKeyOf } from "./once.ts";
import { allTools } from "./tools/all-tools.ts";
import type { BlogTool } from "./tools/blog-tool.ts";

/** Where tools declare their contract. */
const CONTRACT_META = "x-orchestration";

/** What the server around the tools needs. */
export interface BlogServerOptions {
  database: BlogDatabase;
  /** Told of failures that are not the caller's. Their text never reaches the caller. */
  onError: (error: unknown, tool: string) => void;
}

/** An MCP server that offers all tools; one for each connection or request. */
export function createBlogServer({ database, onError }: BlogServerOptions): McpServer {
  const server = new McpServer(
    { name: "blog-tools", title: "Blog tools", version: "0.1.0" },
    {
      capabilities: { tools: { listChanged: false } },
      instructions:
        "Authors write blogs; comments and pictures belong to blogs. Create tools return the new thing with its _id.",
    },
  );
  for (const tool of allTools) {
    server.registerTool(
      tool.name,
      {
        title: tool.title,
        description: tool.description,
        inputSchema: tool.input,
        outputSchema: tool.output,
        annotations: { title: tool.title, ...tool.annotations },
        _meta: { [CONTRACT_META]: tool.contract },
      },
      (input, context) => callTool(tool, input, context.mcpReq._meta, { database, onError }),
    );
  }
  return server;
}

async function callTool(
  tool: BlogTool,
  input: unknown,
  meta: Record<string, unknown> | undefined,
  { database, onError }: BlogServerOptions,
): Promise<CallToolResult> {
  try {
    const output = await tool.run(input, { database, key: idempotencyKeyOf(meta) });
    return { structuredContent: output, content: [{ type: "text", text: JSON.stringify(output) }] };
  } catch (error) {
    if (error instanceof ToolRefusal) return refusal(error.message);
    onError(error, tool.name);
    return refusal(`${tool.name} failed for an internal reason; nothing is known to have changed`);
  }
}

function refusal(text: string): CallToolResult {
  return { isError: true, content: [{ type: "text", text }] };
}
