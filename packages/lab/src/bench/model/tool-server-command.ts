import { fileURLToPath } from "node:url";
import { FROM_SOURCE } from "../../servers/start-service.ts";

/** A program that speaks MCP over stdio. */
export interface ServerCommand {
  command: string;
  args: string[];
  env: Record<string, string>;
}

/** The command of the tool server; each call takes `latencyMs`. */
export const toolServerCommand = (latencyMs: number): ServerCommand => ({
  command: process.execPath,
  args: [...FROM_SOURCE, fileURLToPath(new URL("tool-server.ts", import.meta.url))],
  env: { PATH: process.env["PATH"] ?? "", LATENCY_MS: String(latencyMs) },
});
