import { ProtocolErrorCode } from "@modelcontextprotocol/server";
import { type ApiErrorCode, isApiErrorCode } from "../errors/error-codes.ts";

/** An error of JSON-RPC. */
export interface RpcError {
  code: number;
  message: string;
  data?: unknown;
}

/** Codes for refusals that the protocol distinguishes only by their HTTP status. */
const BY_STATUS: Readonly<Record<number, ApiErrorCode>> = {
  403: "FORBIDDEN",
  405: "METHOD_NOT_ALLOWED",
  413: "PAYLOAD_TOO_LARGE",
  415: "UNSUPPORTED_MEDIA_TYPE",
};

const REMEDY: Partial<Record<ApiErrorCode, string>> = {
  BAD_REQUEST:
    "Send one JSON-RPC 2.0 message with a method of MCP, as POST with accept: application/json, text/event-stream.",
  BAD_USER_INPUT:
    "Give the params that MCP requires: for tools/call the name of a tool and an object of arguments.",
  FORBIDDEN: "Use a host name of this machine, or one that the operator lists in MCP_HOSTS.",
  INTERNAL: "Report it to the operator: the cause is in the log.",
  METHOD_NOT_ALLOWED: "Send messages as POST; GET opens no streams.",
  PAYLOAD_TOO_LARGE: "Send a smaller plan: 1 MiB is accepted.",
  UNSUPPORTED_MEDIA_TYPE: "Set content-type: application/json, as UTF-8.",
};

/**
 * Adds to the `data` of a protocol error the common fields of all errors of this service: a code of the
 * closed list, `retryable`, and a remedy. An error that has a code is returned unchanged. Pure.
 * @param status - the HTTP status, for refusals that differ only by it
 */
export function explained<T extends RpcError>(error: T, status?: number): T {
  const data = typeof error.data === "object" ? error.data : null;
  if (data && "code" in data && isApiErrorCode(data.code)) return error;
  const code = BY_STATUS[status ?? 0] ?? codeOf(error.code);
  // The SDK lists all problems of its schema in many lines.
  const message = error.message.includes("\n") ? "The params do not fit the method" : error.message;
  return { ...error, message, data: { ...data, code, retryable: false, remedy: REMEDY[code] } };
}

function codeOf(code: number): ApiErrorCode {
  if (code === ProtocolErrorCode.InternalError) return "INTERNAL";
  return code === ProtocolErrorCode.InvalidParams ? "BAD_USER_INPUT" : "BAD_REQUEST";
}
