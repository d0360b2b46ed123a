import { spawn } from "node:child_process";
import { once } from "node:events";
import type { ServersConfig } from "../src/index.ts";
import { parseServers } from "../src/index.ts";

/** How an odd server speaks: lines, one JSON body, an event stream, or JSON of the protocol of 2026. */
export type OddTransport = "stdio" | "json" | "stream" | "newer";

/**
 * A server without a library: its tool `answer` returns the JSON text in its argument `raw` as a JSON-RPC
 * `result` (or `error`, as the argument `member` says), as it is. It counts its calls in each answer's head.
 */
const SCRIPT = `
const how = process.argv[1];
const isNewer = how === "newer";
const complete = isNewer ? { resultType: "complete" } : {};
const results = {
  "server/discover": isNewer && { ...complete, supportedVersions: ["2026-07-28"], capabilities: { tools: {} },
    serverInfo: { name: "odd", version: "1" }, ttlMs: 60000, cacheScope: "private" },
  initialize: { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "odd", version: "1" } },
  ping: {},
  "tools/list": { ...complete, ttlMs: 60000, cacheScope: "private",
    tools: [{ name: "answer", inputSchema: { type: "object" } }] },
};
function answer({ id, method, params }) {
  const head = '{"jsonrpc":"2.0","id":' + JSON.stringify(id) + ',';
  if (method === "tools/call") return head + '"' + params.arguments.member + '":' + params.arguments.raw + "}";
  const result = results[method];
  return head + (result ? '"result":' + JSON.stringify(result) : '"error":{"code":-32601,"message":"no"}') + "}";
}
if (how === "stdio") {
  require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
    const message = JSON.parse(line);
    if (message.id !== undefined) process.stdout.write(answer(message) + "\\n");
  }).on("close", () => process.exit());
} else {
  const server = require("node:http").createServer((request, response) => {
    let text = "";
    request.setEncoding("utf8");
    request.on("data", (part) => { text += part; }).on("end", () => {
      if (request.method !== "POST") return response.writeHead(405).end();
      const message = JSON.parse(text);
      if (message.id === undefined) return response.writeHead(202).end();
      const isStream = how === "stream" && message.method === "tools/call";
      response.writeHead(200, { "content-type": isStream ? "text/event-stream" : "application/json" });
      response.end(isStream ? "id: 7\\nevent: message\\ndata: " + answer(message) + "\\n\\n" : answer(message));
    });
  });
  server.listen(0, "127.0.0.1", () => console.log(server.address().port));
  process.stdin.on("close", () => process.exit()).resume();
}
`;

/** Starts an odd server, or describes how to start it. */
export async function startOddServer(
  how: OddTransport,
): Promise<{ config: ServersConfig; stop: () => void }> {
  const args = ["-e", SCRIPT, how];
  if (how === "stdio") {
    const config = parseServers({ mcpServers: { odd: { command: process.execPath, args } } });
    return { config, stop: () => {} };
  }
  const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
  const [port] = (await once(child.stdout, "data")) as [Buffer];
  const url = `http://127.0.0.1:${port.toString().trim()}/mcp`;
  return { config: parseServers({ mcpServers: { odd: { url } } }), stop: () => child.kill() };
}
