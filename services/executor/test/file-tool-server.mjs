/**
 * An MCP server over stdio for tests. Its tools are in a JSON file that is read when the process starts, and
 * each call is written to another file. The tool `restart` answers and ends the process; the next process
 * reads the tools again.
 */
import { appendFileSync, readFileSync } from "node:fs";
import { Server } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";

const [toolsFile, callsFile] = process.argv.slice(2);
const tools = JSON.parse(readFileSync(toolsFile, "utf8"));

serveStdio(() => {
  const server = new Server({ name: "file", version: "1" }, { capabilities: { tools: {} } });
  server.setRequestHandler("tools/list", async () => ({ tools }));
  server.setRequestHandler("tools/call", async ({ params: { name } }) => {
    appendFileSync(callsFile, `${name}\n`);
    if (name === "restart") setImmediate(() => setImmediate(() => process.exit(0)));
    return { content: [{ type: "text", text: name }] };
  });
  return server;
});
