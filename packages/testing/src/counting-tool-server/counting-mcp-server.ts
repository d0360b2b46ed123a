import { type CallToolResult, fromJsonSchema, McpServer, ProtocolError } from "@modelcontextprotocol/server";
import type { JsonObject } from "@planwright/plan";
import { z } from "zod";
import type { Behaviour } from "./behaviour.ts";
import type { CallAnswer, CountingCore } from "./counting-core.ts";

/**
 * Field of `_meta` by which the HTTP layer assigns a call to its connection. It is removed before the ledger.
 */
export const EXCHANGE_META = "dev.planwright.testing/exchange";

/** Facts of the transport about a call. */
export interface Exchange {
  /** Already taken from the script; undefined for a usual call. */
  behaviour: Behaviour | undefined;
  cut: () => void;
}

const InputSchema = z.looseObject({
  value: z.unknown().optional().describe("Returned as it is"),
  reference: z.string().max(500).optional().describe("Name of the effect, for find_effect"),
  latencyMs: z
    .number()
    .int()
    .min(0)
    .max(600_000)
    .optional()
    .describe("How long the call takes, in milliseconds"),
});
const OutputSchema = z.looseObject({});

/** An MCP server with the counting tools; one for each connection or request. */
export function createCountingMcpServer(
  core: CountingCore,
  exchangeOf: (id: unknown) => Exchange | undefined = () => undefined,
): McpServer {
  const server = new McpServer(
    { name: "counting-tools", version: "0.1.0" },
    { capabilities: { tools: { listChanged: false } } },
  );
  for (const { name, description, annotations, contract, inputSchema } of core.tools) {
    server.registerTool(
      name,
      {
        description,
        annotations,
        inputSchema: inputSchema ? fromJsonSchema(inputSchema) : InputSchema,
        outputSchema: OutputSchema,
        _meta: { "x-orchestration": contract },
      },
      async (input, context) => {
        const { [EXCHANGE_META]: id, ...meta } = context.mcpReq._meta ?? {};
        const exchange = exchangeOf(id);
        const { signal } = context.mcpReq;
        const call = { tool: name, arguments: input as JsonObject, meta: meta as JsonObject, signal };
        const behaviour = exchange === undefined ? core.script.take(name) : exchange.behaviour;
        return await toResult(await core.call({ ...call, cut: exchange?.cut }, behaviour));
      },
    );
  }
  return server;
}

function toResult(answer: CallAnswer): CallToolResult | Promise<never> {
  switch (answer.type) {
    case "result":
      return {
        structuredContent: answer.output,
        content: [{ type: "text", text: JSON.stringify(answer.output) }],
      };
    case "tool-error":
      return { isError: true, content: [{ type: "text", text: answer.message }] };
    case "protocol-error":
      throw new ProtocolError(answer.code, "scripted protocol error");
    case "silence":
      return new Promise<never>(() => {});
  }
}
