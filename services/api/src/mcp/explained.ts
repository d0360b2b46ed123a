import { ProtocolErrorCode } from "@modelcontextprotocol/server";
import { z } from "zod";
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
  const misfit = misfitIn(error.message);
  // The SDK calls some wrong params an internal error.
  const rpcCode = misfit === undefined ? error.code : ProtocolErrorCode.InvalidParams;
  const code = BY_STATUS[status ?? 0] ?? codeOf(rpcCode);
  const message = misfit ?? error.message;
  return {
    ...error,
    code: rpcCode,
    message,
    data: { ...data, code, retryable: false, remedy: REMEDY[code] },
  };
}

const IssuesSchema = z.array(
  z.object({ path: z.array(z.union([z.string(), z.number()])), message: z.string() }),
);
/** Longest message: it quotes names and values of the caller. */
const MAX_MESSAGE = 300;

/**
 * The first wrong field, of a message in which the SDK lists all problems of its schema as JSON in many lines;
 * undefined for other messages.
 */
function misfitIn(message: string): string | undefined {
  if (!message.includes("\n")) return undefined;
  const [first] = issuesIn(message);
  if (!first) return "The params do not fit the method";
  const problem = first.message
    .replace(/^Invalid input: /, "")
    .replace(/^.*, received undefined$/, "is missing");
  return `${first.path.join(".") || "params"}: ${problem}`.slice(0, MAX_MESSAGE);
}

function issuesIn(message: string): z.output<typeof IssuesSchema> {
  try {
    return IssuesSchema.parse(JSON.parse(message.slice(message.indexOf("["))));
  } catch {
    // A list of another form, or no list: the answer then names no field.
    return [];
  }
}

function codeOf(code: number): ApiErrorCode {
  if (code === ProtocolErrorCode.InternalError) return "INTERNAL";
  return code === ProtocolErrorCode.InvalidParams ? "BAD_USER_INPUT" : "BAD_REQUEST";
}
