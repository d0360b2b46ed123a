// npm run proof:servers -- [--json] [--only NAME...] [--update]: tries the system with third-party MCP servers
// from npm.
import { build, runSource } from "./run-source.mjs";

build();
runSource("real-servers/main.ts", process.argv.slice(2));
