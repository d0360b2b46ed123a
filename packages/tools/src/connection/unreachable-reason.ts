import { existsSync } from "node:fs";
import { SdkError, SdkErrorCode, SdkHttpError } from "@modelcontextprotocol/client";
import type { ServerConfig } from "../config/server-config.ts";
import { excerptOf, type ServerUnreachableError, UnreadableAnswerError } from "./errors.ts";

/**
 * Why a connection failed, in words that help an operator: the missing command, the ended process, the
 * timeout, the status of HTTP.
 * @param timeoutMs - how long the connection was awaited
 */
export function unreachableReason(error: unknown, config: ServerConfig, timeoutMs: number): string {
  const spawned = config.type === "stdio" ? spawnFailure(error, config) : undefined;
  if (spawned !== undefined) return spawned;
  if (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout)
    return `it gave no answer within ${timeoutMs / 1_000} s`;
  if (error instanceof SdkError && error.code === SdkErrorCode.ConnectionClosed)
    return config.type === "stdio" ? "its process ended before it answered" : "the connection was closed";
  return sentenceOf(error);
}

/** The reason as operators see it: with what the process wrote to its standard output, which is for messages. */
export function shownReason({ facts: { reason, said } }: ServerUnreachableError): string {
  return said === undefined
    ? reason
    : `${reason}; on its standard output, where only messages of the protocol may be, it wrote: ${said}`;
}

/**
 * The message of an error in one line of bounded length: no list of a validator, no page of a server, no
 * control characters.
 */
export function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return excerptOf(String(error));
  if (error instanceof UnreadableAnswerError) return error.message;
  if (error instanceof SdkHttpError) return sentenceOfStatus(error);
  if ("issues" in error && Array.isArray(error.issues))
    return "it sent a message that is not valid in the protocol";
  const message = excerptOf(error.message);
  const { cause } = error;
  const isMore = cause instanceof Error && cause.message !== "" && !error.message.includes(cause.message);
  return isMore ? `${message} (${excerptOf(cause.message)})` : message;
}

function sentenceOfStatus({ status, data }: SdkHttpError): string {
  if (status === 401 || status === 403)
    return `it refuses access (HTTP ${status}); check the headers of this server in the servers file`;
  const text = typeof data.text === "string" ? data.text : "";
  const isPage = /^\s*<|^\s*$/.test(text.slice(0, 100));
  return isPage ? `it answered with HTTP ${status}` : `it answered with HTTP ${status}: ${excerptOf(text)}`;
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
