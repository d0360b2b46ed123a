/**
 * An MCP server over stdio for tests. Its tools, valid or not, are in a JSON file that is read when the process
 * starts, and each call is written to another file. A tool answers with its name; `restart` ends the process
 * after its answer, and `wait` answers with the number of its process once the file `{callsFile}.go` exists.
 */
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const [toolsFile, callsFile] = process.argv.slice(2);
const tools = JSON.parse(readFileSync(toolsFile, "utf8"));

const answer = (id, result) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`);
const text = (id, said) => answer(id, { content: [{ type: "text", text: said }] });

function call(id, name) {
  appendFileSync(callsFile, `${name}\n`);
  if (name === "restart") {
    text(id, name);
    setImmediate(() => setImmediate(() => process.exit(0)));
  } else if (name === "wait") {
    const timer = setInterval(() => {
      if (!existsSync(`${callsFile}.go`)) return;
      clearInterval(timer);
      text(id, `process ${process.pid}`);
    }, 10);
  } else text(id, name);
}

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === "initialize") {
    const { protocolVersion } = params;
    answer(id, { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "file", version: "1" } });
  } else if (method === "tools/list") answer(id, { tools });
  else if (method === "tools/call") call(id, params.name);
  else if (id !== undefined) answer(id, {});
});
