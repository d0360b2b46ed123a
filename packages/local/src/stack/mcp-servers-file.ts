import { readFileSync, writeFileSync } from "node:fs";
import { CodedError } from "@planwright/plan";
import { z } from "zod";

/** Only what merging needs; the executor checks each server when it reads the file. */
const FileSchema = z.looseObject({ mcpServers: z.record(z.string(), z.unknown()) });

/** The file that MCP_SERVERS_FILE names cannot be used. The message says why. */
export class McpServersFileError extends CodedError<{ path: string }> {
  readonly code = "MCP_SERVERS_FILE";
  readonly retryable = false;
  constructor(path: string, cause: unknown) {
    const why = cause instanceof Error ? cause.message.split("\n", 1)[0] : "mcpServers is missing";
    super(
      `MCP_SERVERS_FILE (${path}) must be a JSON file like {"mcpServers": {"name": {...}}}: ${why}`,
      { path },
      { cause },
    );
  }
}

/**
 * Writes the servers file of a stack: the blog tools, and the servers of the user's own file. One named "blog" there wins.
 * The file may hold secrets of the user's servers, so only its owner may read it.
 * @throws {McpServersFileError} when the user's file is not of the usual form
 */
export function writeMcpServersFile(path: string, blogUrl: string, userFile: string | undefined): void {
  const blog = { type: "http", url: blogUrl, trusted: true };
  const user = userFile === undefined || userFile === "" ? {} : readServers(userFile);
  writeFileSync(path, `${JSON.stringify({ mcpServers: { blog, ...user } }, null, 2)}\n`, { mode: 0o600 });
}

function readServers(path: string): Record<string, unknown> {
  try {
    return FileSchema.parse(JSON.parse(readFileSync(path, "utf8"))).mcpServers;
  } catch (error) {
    throw new McpServersFileError(path, error instanceof z.ZodError ? undefined : error);
  }
}
