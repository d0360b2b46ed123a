import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { z } from "zod";

/** How a bad server reacts to a request instead of answering it correctly. */
export const BadAnswerSchema = z.strictObject({
  /** JSON text of the result, valid or not. */
  result: z.string().optional(),
  /** The whole body. */
  body: z.string().optional(),
  contentType: z.string().default("application/json"),
  status: z.number().int().default(200),
  /** Never answers, or cuts the connection. */
  does: z.enum(["hang", "close"]).optional(),
});
export type BadAnswer = z.output<typeof BadAnswerSchema>;

const MessageSchema = z.looseObject({
  id: z.union([z.string(), z.number()]).optional(),
  method: z.string().optional(),
  params: z.looseObject({ name: z.string().optional() }).optional(),
});

/**
 * Starts an MCP server without an MCP library, because no library sends such answers: each path is a separate
 * server.
 * @param answerOf - the reaction to a greeting, a listing or a call; undefined: the correct answer
 */
export async function startBadMcpServer(
  answerOf: (path: string, asked: { method: string; tool: string | undefined }) => BadAnswer | undefined,
): Promise<{ url: string; close(): Promise<void> }> {
  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method !== "POST") return void response.writeHead(405).end();
    const { id, method, params } = MessageSchema.parse(await json(request));
    if (id === undefined) return void response.writeHead(202).end();
    const envelope = (rest: string) => `{"jsonrpc":"2.0","id":${JSON.stringify(id)},${rest}}`;
    const say = (text: string, status = 200, type = "application/json") =>
      void response.writeHead(status, { "content-type": type, "mcp-session-id": "1" }).end(text);
    if (method === undefined || !ANSWERED.includes(method)) {
      return say(envelope('"error":{"code":-32601,"message":"Method not found"}'));
    }
    const answer = answerOf(request.url ?? "/", { method, tool: params?.name });
    if (!answer) return say(envelope(`"result":${GREETING}`));
    if (answer.does === "hang") return;
    if (answer.does === "close") return void response.destroy();
    say(answer.body ?? envelope(`"result":${answer.result ?? "{}"}`), answer.status, answer.contentType);
  }
  const server = createServer((request, response) => void serve(request, response));
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

const ANSWERED = ["initialize", "tools/list", "tools/call"];
const GREETING = JSON.stringify({
  protocolVersion: "2025-06-18",
  capabilities: { tools: {} },
  serverInfo: { name: "bad", version: "1" },
});
