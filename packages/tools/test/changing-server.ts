import { createServer } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { type NodeIncomingMessageLike, toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler, ProtocolError, Server } from "@modelcontextprotocol/server";

type TextAnswer = { content: { type: "text"; text: string }[] };

/** An MCP server whose list of tools a test may change while it runs. */
export interface ChangingServer {
  url: string;
  /** The tools that `tools/list` answers, valid or not. */
  tools: object[];
  /** Whether connections made from now on are notified of changes of the list. */
  notifies: boolean;
  /** Tools per page. */
  pageSize: number;
  /** Delay of each page, in milliseconds. */
  pageLatencyMs: number;
  /** Requests of `tools/list` so far. */
  pagesServed: number;
  /** Names of the tools called so far. */
  called: string[];
  /** The answer of each tool, in the form of MCP. Default: the name of the tool. */
  answer: (name: string, args: unknown) => TextAnswer | Promise<TextAnswer>;
  /** Notifies connected clients that the list has changed. */
  notify(): void;
  close(): Promise<void>;
}

/** A tool with only the required fields. */
export function plainTool(name: string, more: object = {}): object {
  return { name, inputSchema: { type: "object" }, ...more };
}

/**
 * Starts the server. By default every tool answers with its name. A tool that is not in the list is unknown.
 * @param port - 0: a free one
 * @param maxSubscriptions - most streams for notifications; 0: they are refused
 */
export async function startChangingServer(
  tools: object[],
  port = 0,
  maxSubscriptions = 1_024,
): Promise<ChangingServer> {
  const state: ChangingServer = {
    url: "",
    tools,
    notifies: true,
    pageSize: 100,
    pageLatencyMs: 0,
    pagesServed: 0,
    called: [],
    answer: (name) => ({ content: [{ type: "text", text: name }] }),
    notify: () => handler.notify.toolsChanged(),
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await handler.close();
      await closed;
    },
  };
  const handler = createMcpHandler(
    () => {
      const mcp = new Server(
        { name: "changing", version: "1" },
        { capabilities: { tools: { listChanged: state.notifies } } },
      );
      mcp.setRequestHandler("tools/list", async ({ params }) => {
        state.pagesServed += 1;
        await delay(state.pageLatencyMs);
        const start = Number(params?.cursor ?? 0);
        const end = start + state.pageSize;
        return {
          // The test decides whether they are valid.
          tools: state.tools.slice(start, end) as never[],
          ...(end < state.tools.length ? { nextCursor: String(end) } : {}),
        };
      });
      mcp.setRequestHandler("tools/call", async ({ params: { name, arguments: args } }) => {
        if (!state.tools.some((tool) => "name" in tool && tool.name === name)) {
          throw new ProtocolError(-32_602, `Tool ${name} not found`);
        }
        state.called.push(name);
        return await state.answer(name, args);
      });
      return mcp;
    },
    { maxSubscriptions },
  );
  const serve = toNodeHandler(handler);
  const server = createServer((request, response) => {
    void serve(request as NodeIncomingMessageLike, response);
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const address = server.address();
  const bound = typeof address === "object" && address !== null ? address.port : 0;
  state.url = `http://127.0.0.1:${bound}/mcp`;
  return state;
}
