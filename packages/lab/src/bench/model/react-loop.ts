import { tool } from "@langchain/core/tools";
import { createReactAgent } from "@langchain/langgraph/prebuilt";
import { ChatOpenAI } from "@langchain/openai";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import type { ServerCommand } from "./tool-server-command.ts";

/** An agent that works on one query after another. */
export interface ReactLoop {
  /** @returns the last message, which is the answer */
  run(query: string, options: { isParallel: boolean }): Promise<string>;
  close(): Promise<void>;
}

const PROMPT = "You are a helpful assistant. Use the tools to do what the user asks, then tell the result.";

/** LangGraph's prebuilt ReAct agent, built as its documentation shows, with the same tools over MCP. */
export async function startReactLoop(toolServer: ServerCommand, baseURL: string): Promise<ReactLoop> {
  const client = new Client({ name: "bench", version: "0.1.0" });
  await client.connect(new StdioClientTransport(toolServer));
  const { tools: listed } = await client.listTools();
  const tools = listed.map(({ name, description = "", inputSchema }) =>
    tool(
      async (input: unknown) => {
        const given = input as Record<string, unknown>;
        const { content } = await client.callTool({ name, arguments: given });
        return content.map((part) => (part.type === "text" ? part.text : "")).join("");
      },
      { name, description, schema: withoutDialect(inputSchema) },
    ),
  );
  const agentOf = (isParallel: boolean) => {
    const llm = new ChatOpenAI({
      model: "bench",
      apiKey: "none",
      configuration: { baseURL },
      maxRetries: 0,
      useResponsesApi: false,
    });
    const bound = llm.bindTools(tools, { parallel_tool_calls: isParallel });
    return createReactAgent({ llm: bound, tools, prompt: PROMPT });
  };
  const agents = { one: agentOf(false), many: agentOf(true) };
  return {
    async run(query, { isParallel }) {
      const agent = isParallel ? agents.many : agents.one;
      const { messages } = await agent.invoke(
        { messages: [{ role: "user", content: query }] },
        { recursionLimit: 100 },
      );
      return messages.at(-1)?.text ?? "";
    },
    close: () => client.close(),
  };
}

/** The schema without `$schema`, which providers remove before a model sees it. */
function withoutDialect<Schema extends object>(schema: Schema): Omit<Schema, "$schema"> {
  const { $schema: _dialect, ...rest }: Schema & { $schema?: unknown } = schema;
  return rest;
}
