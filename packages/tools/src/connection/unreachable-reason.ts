import { existsSync } from "node:fs";
import { SdkError, SdkErrorCode } from "@modelcontextprotocol/client";
import type { ServerConfig } from "../config/server-config.ts";

/** The prefix that the SDK adds to the reason. */
const PREFIX = /^Version negotiation probe failed: /;

/**
 * Why a connection failed, in words that help an operator: the missing command, the ended process, the
 * timeout. It contains no text of the server.
 * @param timeoutMs - how long the connection was awaited
 */
export function unreachableReason(error: unknown, config: ServerConfig, timeoutMs: number): string {
  const spawned = config.type === "stdio" ? spawnFailure(error, config) : undefined;
  if (spawned !== undefined) return spawned;
  if (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout)
    return `it gave no answer within ${timeoutMs / 1_000} s`;
  if (error instanceof SdkError && error.code === SdkErrorCode.ConnectionClosed)
    return config.type === "stdio" ? "its process ended before it answered" : "the connection was closed";
  if (!(error instanceof Error)) return String(error);
  const message = error.message.replace(PREFIX, "");
  const { cause } = error;
  const isMore = cause instanceof Error && cause.message !== "" && !message.includes(cause.message);
  return isMore ? `${message} (${cause.message})` : message;
}

/** Why the process did not start; undefined when it did. */
function spawnFailure(
  error: unknown,
  { command, cwd }: Extract<ServerConfig, { type: "stdio" }>,
): string | undefined {
  if (!(error instanceof Error) || !("syscall" in error) || !("code" in error)) return undefined;
  if (!String(error.syscall).startsWith("spawn")) return undefined;
  if (cwd !== undefined && !existsSync(cwd)) return `its folder ${cwd} is not there`;
  if (error.code === "ENOENT") return `its command ${command} is not there`;
  if (error.code === "EACCES") return `its command ${command} may not be executed`;
  return error.message;
}
