import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A JSON-RPC message that a client sent. */
export interface SentMessage {
  id?: string | number;
  method: string;
  params?: { name?: string; arguments?: object; cursor?: string };
}

/** What a server does with a request: a reply of HTTP, no reply, or the end of the connection. */
export type Reaction =
  | {
      status?: number;
      headers?: Record<string, string>;
      /** What is sent before the body, and arrives before it. */
      beginning?: string;
      body?: string | Buffer;
    }
  | "silent"
  | "close";

/** What differs from a usual server. */
export interface WildBehaviour {
  /** Instead of the usual reply; undefined for that. */
  react?: (message: SentMessage, seen: SeenRequest[]) => Reaction | undefined;
  /** The usual replies are event streams. */
  isStream?: boolean;
  /** Only the older HTTP+SSE transport. */
  isOlder?: boolean;
}

interface SeenRequest {
  method: string;
  headers: IncomingHttpHeaders;
}

/** A running server. */
export interface WildServer {
  url: string;
  /** The messages that came, and the headers of their requests. */
  seen: SeenRequest[];
  /** Ends the streams of the older transport. */
  breakStreams(): void;
  close(): Promise<void>;
}

const TOOL = { name: "t", inputSchema: { type: "object" } };
const RESULTS: Record<string, object> = {
  initialize: {
    protocolVersion: "2025-06-18",
    capabilities: { tools: {} },
    serverInfo: { name: "wild", version: "1" },
  },
  ping: {},
  "tools/list": { tools: [TOOL] },
  "tools/call": { content: [{ type: "text", text: "done" }] },
};

/** The message with which a usual server answers. */
export function usualAnswer({ id, method }: SentMessage): object {
  const result = RESULTS[method];
  return {
    jsonrpc: "2.0",
    id,
    ...(result ? { result } : { error: { code: -32_601, message: "Method not found" } }),
  };
}

/** A reply with JSON. */
export function json(
  body: unknown,
  more: { status?: number; headers?: Record<string, string> } = {},
): Reaction {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return { ...more, headers: { "content-type": "application/json", ...more.headers }, body: text };
}

/** Starts a server that is written without a library, with one tool, `t`. */
export async function startWildServer(behaviour: WildBehaviour = {}): Promise<WildServer> {
  const seen: SeenRequest[] = [];
  const streams = new Set<ServerResponse>();
  const server = createServer((request, response) => {
    if (request.method === "GET" && behaviour.isOlder) {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write("event: endpoint\ndata: /messages?session=1\n\n");
      streams.add(response);
      return;
    }
    const isWrongPath = behaviour.isOlder === true && !request.url?.startsWith("/messages");
    if (request.method !== "POST" || isWrongPath) return void response.writeHead(405).end();
    let text = "";
    request.on("data", (part) => {
      text += part;
    });
    request.on("end", () => {
      const message: SentMessage = JSON.parse(text);
      seen.push({ method: message.method, headers: request.headers });
      const reaction = behaviour.react?.(message, seen);
      if (reaction === "silent") return;
      if (reaction === "close") return void request.socket.destroy();
      if (behaviour.isOlder && !(reaction?.status && reaction.status >= 300)) {
        response.writeHead(202).end("Accepted");
        if (message.id === undefined) return;
        const data = reaction?.body?.toString() ?? JSON.stringify(usualAnswer(message));
        for (const stream of streams) stream.write(`event: message\ndata: ${data}\n\n`);
        return;
      }
      if (reaction) {
        response.writeHead(reaction.status ?? 200, reaction.headers);
        if (reaction.beginning === undefined) return void response.end(reaction.body);
        response.write(reaction.beginning);
        // The client reads it as a piece of its own.
        return void setTimeout(() => response.end(reaction.body), 100);
      }
      if (message.id === undefined) return void response.writeHead(202).end();
      const answer = JSON.stringify(usualAnswer(message));
      const type = behaviour.isStream ? "text/event-stream" : "application/json";
      response.writeHead(200, { "content-type": type });
      response.end(behaviour.isStream ? `data: ${answer}\n\n` : answer);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const breakStreams = () => {
    for (const stream of streams) stream.destroy();
    streams.clear();
  };
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    seen,
    breakStreams,
    close: async () => {
      breakStreams();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/**
 * A stdio server as an entry of a servers file, written without a library.
 * @param body - JavaScript that prints the answer to `message`; `usual(message)` is that of a usual server, as
 *   text without a line break
 * @param begin - JavaScript that runs first
 */
export function wildProcess(body: string, begin = ""): { command: string; args: string[] } {
  const script = `
    const RESULTS = ${JSON.stringify(RESULTS)};
    const usual = ({ id, method }) => JSON.stringify({ jsonrpc: "2.0", id, ...(RESULTS[method]
      ? { result: RESULTS[method] } : { error: { code: -32601, message: "Method not found" } }) });
    const print = (text) => process.stdout.write(text);
    ${begin}
    require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
      const message = JSON.parse(line);
      if (message.id === undefined) return;
      ${body}
    }).on("close", () => process.exit());`;
  // In a servers file, `$${` is the text of two signs that begin a placeholder.
  return { command: process.execPath, args: ["-e", script.replaceAll("${", () => "$${")] };
}
