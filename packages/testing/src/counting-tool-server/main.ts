import { parseArgs } from "node:util";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { createCountingCore, createCountingMcpServer } from "./counting-core.ts";
import { LIST_TOOLS, ScriptSchema } from "./counting-tools.ts";
import { NO_CALL_LOG, openCallLog, openEffectLedger } from "./effect-ledger.ts";
import { startCountingToolServer } from "./start-counting-tool-server.ts";

const { values } = parseArgs({
  options: {
    ledger: { type: "string" },
    script: { type: "string", default: "{}" },
    host: { type: "string", default: "127.0.0.1" },
    port: { type: "string", default: "0" },
    calls: { type: "string" },
    lists: { type: "boolean", default: false },
    stdio: { type: "boolean", default: false },
  },
});
const ledgerFile = values.ledger ?? "effects.jsonl";
const script = ScriptSchema.parse(JSON.parse(values.script));

const tools = values.lists ? LIST_TOOLS : [];
const callsFile = values.calls;

if (values.stdio) {
  const log = callsFile === undefined ? NO_CALL_LOG : openCallLog(callsFile);
  const core = createCountingCore(await openEffectLedger(ledgerFile), { tools, log });
  core.script.add(script);
  serveStdio(() => createCountingMcpServer(core));
} else {
  const { host } = values;
  const server = await startCountingToolServer({
    ledgerFile,
    callsFile,
    tools,
    script,
    host,
    port: Number(values.port),
  });
  process.stdout.write(`${JSON.stringify({ url: server.url, port: server.port, pid: process.pid })}\n`);
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.once(signal, () => void server.close().then(() => process.exit(0)));
  }
}
