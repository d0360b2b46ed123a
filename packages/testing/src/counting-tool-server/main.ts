import { parseArgs } from "node:util";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { ScriptSchema } from "./behaviour.ts";
import { createCountingCore } from "./counting-core.ts";
import { createCountingMcpServer } from "./counting-mcp-server.ts";
import { openEffectLedger } from "./effect-ledger.ts";
import { startCountingToolServer } from "./start-counting-tool-server.ts";

const { values } = parseArgs({
  options: {
    ledger: { type: "string" },
    script: { type: "string", default: "{}" },
    host: { type: "string", default: "127.0.0.1" },
    port: { type: "string", default: "0" },
    stdio: { type: "boolean", default: false },
  },
});
const ledgerFile = values.ledger ?? "effects.jsonl";
const script = ScriptSchema.parse(JSON.parse(values.script));

if (values.stdio) {
  const core = createCountingCore(await openEffectLedger(ledgerFile));
  core.script.add(script);
  serveStdio(() => createCountingMcpServer(core));
} else {
  const { host } = values;
  const server = await startCountingToolServer({ ledgerFile, script, host, port: Number(values.port) });
  process.stdout.write(`${JSON.stringify({ url: server.url, port: server.port, pid: process.pid })}\n`);
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.once(signal, () => void server.close().then(() => process.exit(0)));
  }
}
