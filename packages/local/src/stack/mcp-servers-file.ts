import { readFileSync, writeFileSync } from "node:fs";
import { z } from "zod";

/**
 * Only the fields that merging needs: the user's file was checked before, and the executor checks each server
 * when it reads the result.
 */
const FileSchema = z.looseObject({ mcpServers: z.record(z.string(), z.unknown()) });

const DisabledSchema = z.looseObject({ disabled: z.literal(true) });

/**
 * Writes the servers file of a stack: the blog tools and the servers of the user's file. A server named
 * "blog" in that file replaces the blog tools. The file may contain secrets of the user's servers, so only
 * its owner may read it.
 * @returns the names of the servers that are not disabled
 */
export function writeMcpServersFile(path: string, blogUrl: string, userFile: string | undefined): string[] {
  const blog = { type: "http", url: blogUrl, trusted: true };
  const user = userFile === undefined || userFile === "" ? {} : readServers(userFile);
  const mcpServers: Record<string, unknown> = { blog, ...user };
  writeFileSync(path, `${JSON.stringify({ mcpServers }, null, 2)}\n`, { mode: 0o600 });
  return Object.keys(mcpServers).filter((name) => !DisabledSchema.safeParse(mcpServers[name]).success);
}

function readServers(path: string): Record<string, unknown> {
  return FileSchema.parse(JSON.parse(readFileSync(path, "utf8"))).mcpServers;
}
