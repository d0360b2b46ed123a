import { readFileSync, writeFileSync } from "node:fs";
import json5 from "json5";
import { z } from "zod";

/**
 * Only the fields that merging needs: the user's file was checked before, and the executor checks each server
 * when it reads the result. Files of VS Code have other names for the first field.
 */
const ServersSchema = z.record(z.string(), z.unknown());
const FileSchema = z.looseObject({
  mcpServers: ServersSchema.optional(),
  servers: ServersSchema.optional(),
  mcp: z.looseObject({ servers: ServersSchema.optional(), mcpServers: ServersSchema.optional() }).optional(),
  inputs: z.array(z.unknown()).optional(),
});

/** How the clients write it. */
const DisabledSchema = z.union([
  z.looseObject({ disabled: z.literal(true) }),
  z.looseObject({ enabled: z.literal(false) }),
  z.looseObject({ isActive: z.literal(false) }),
]);

/**
 * Writes the servers file of a stack: the blog tools and the servers of the user's file. A server named
 * "blog" in that file replaces the blog tools. The file may contain secrets of the user's servers, so only
 * its owner may read it.
 * @returns the names of the servers that are not disabled
 */
export function writeMcpServersFile(path: string, blogUrl: string, userFile: string | undefined): string[] {
  const blog = { type: "http", url: blogUrl, trusted: true };
  const file = userFile === undefined || userFile === "" ? {} : readFile(userFile);
  const user = file.mcpServers ?? file.servers ?? file.mcp?.servers ?? file.mcp?.mcpServers;
  const mcpServers: Record<string, unknown> = { blog, ...user };
  const content = { ...(file.inputs && { inputs: file.inputs }), mcpServers };
  writeFileSync(path, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  return Object.keys(mcpServers).filter((name) => !DisabledSchema.safeParse(mcpServers[name]).success);
}

/** Files of other clients have comments, trailing commas, byte order marks. */
function readFile(path: string): z.output<typeof FileSchema> {
  const bytes = readFileSync(path);
  const isUtf16 = bytes[0] === 0xff && bytes[1] === 0xfe;
  return FileSchema.parse(json5.parse(new TextDecoder(isUtf16 ? "utf-16le" : "utf-8").decode(bytes)));
}
