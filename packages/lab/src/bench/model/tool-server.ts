/** The tools of the benchmark as an MCP server over stdio. `LATENCY_MS` is the duration of each call. */
import { setTimeout as wait } from "node:timers/promises";
import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";
import { BENCH_TOOLS, type BenchTool } from "./bench-tools.ts";

const latencyMs = z.coerce.number().int().min(0).parse(process.env["LATENCY_MS"]);
const text = (descriptions: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(descriptions).map(([name, words]) => [name, z.string().describe(words)]));
const fields = (descriptions: BenchTool["output"]) =>
  Object.fromEntries(
    Object.entries(descriptions).map(([name, words]) => [
      name,
      typeof words === "string" ? z.string().describe(words) : z.array(z.object(text(words.each))),
    ]),
  );

function createServer(): McpServer {
  const server = new McpServer(
    { name: "bench-tools", version: "0.1.0" },
    { capabilities: { tools: { listChanged: false } } },
  );
  for (const { name, description, input, output, answer } of BENCH_TOOLS) {
    server.registerTool(
      name,
      {
        description,
        annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
        inputSchema: z.object(text(input)),
        outputSchema: z.object(fields(output)),
      },
      async (given) => {
        await wait(latencyMs);
        const structuredContent = answer(z.record(z.string(), z.string()).parse(given));
        return { structuredContent, content: [{ type: "text", text: JSON.stringify(structuredContent) }] };
      },
    );
  }
  return server;
}

serveStdio(createServer);
