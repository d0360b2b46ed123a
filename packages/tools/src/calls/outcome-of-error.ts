import {
  ProtocolError,
  ProtocolErrorCode,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
} from "@modelcontextprotocol/client";
import type { Outcome, StepErrorCode } from "@planwright/engine";
import {
  beginningOfText,
  CodedError,
  depthOf,
  isJsonObject,
  type JsonValue,
  JsonValueSchema,
  saysNoEffect,
} from "@planwright/plan";
import type { CallTrace } from "../connection/call-trace.ts";
import {
  AnswerTooLargeError,
  cutText,
  ServerUnreachableError,
  UnreadableAnswerError,
} from "../connection/errors.ts";
import { NoTokenError } from "../connection/sign-in.ts";

type Failure = Extract<Outcome, { type: "failed" }>;

/** The call that failed. */
interface FailedCall {
  /** Name in the catalogue, for messages. */
  tool: string;
  /** The name of the tool on its server. */
  ownName: string;
  server: string;
  timeoutMs: number;
  trace: CallTrace;
  /** True when the caller cancelled the call. */
  cancelled: boolean;
  /** True when the server keeps state for the connection, which is lost when the server restarts. */
  hasServerSession: boolean;
}

/** Deepest data of an error that is kept, as for outputs: MongoDB refuses documents of 100 levels. */
const MAX_DEPTH = 64;
/** JSON-RPC errors that mean that the server did not process the call. */
const NOT_PROCESSED: readonly number[] = [
  ProtocolErrorCode.ParseError,
  ProtocolErrorCode.InvalidRequest,
  ProtocolErrorCode.MethodNotFound,
  ProtocolErrorCode.InvalidParams,
];

/**
 * The outcome of a call that threw. `effect` is `none` only when the request cannot have reached the tool,
 * and `reported` only when the server answered this call; in doubt it is `unknown`.
 */
export function outcomeOfError(error: unknown, call: FailedCall): Failure {
  const { trace, server, tool } = call;
  if (error instanceof AnswerTooLargeError) {
    return failed("TOOL_RESULT_TOO_LARGE", `${tool}: ${error.message}`, "reported", false);
  }
  // It refused the call before it processed it.
  if (!trace.sent || error instanceof NoTokenError) return notSent(error, call);
  if (error instanceof UnreadableAnswerError) {
    return failed("TOOL_RESULT_INVALID", `${tool}: ${error.message}`, "unknown", true);
  }
  if (error instanceof ProtocolError && isWithoutEffect(error, trace)) {
    return outcomeOfProtocolError(error, call, "none");
  }
  const { status } = trace;
  if (status !== undefined && (status < 200 || status >= 300)) return outcomeOfStatus(status, error, call);
  if (error instanceof ProtocolError) return outcomeOfProtocolError(error, call);
  if (error instanceof SdkError && !(error instanceof SdkHttpError)) {
    const outcome = outcomeOfSdkError(error, call);
    if (outcome !== undefined) return outcome;
  }
  if (isUnreadable(error)) {
    const message = `${tool}: the answer of ${server} is invalid or was cut off`;
    return failed("TOOL_RESULT_INVALID", message, "unknown", true);
  }
  return lost(call);
}

/** Statuses with which servers answer for a session that they do not know. */
const LOST_SESSION_STATUSES: readonly number[] = [400, 401, 404, 410, 422];
/** JSON-RPC codes that servers use for it: those of servers, of which -32001 is the usual one. */
const isLostSessionCode = (code: number) =>
  (code >= -32_099 && code <= -32_000) || code === ProtocolErrorCode.InvalidRequest;
/** How servers say it; a tool that speaks of sessions of its own has other words, or another code. */
const LOST_SESSION =
  /\bsession (?:id )?(?:["']?[\w-]{1,64}["']? )?(?:was |has |is )?(?:not found|not initialized|expired|terminated|closed|does not exist|invalid|unknown|missing)\b|\b(?:no valid|no active|no such|invalid|unknown|expired|missing|could not find) (?:mcp[- ])?session\b|\bmcp-session-id header\b|\bserver not initialized\b/i;

/**
 * True when the server does not know the session of the connection any more, so that it executed nothing: a
 * call over a new session is the same call. In a new session the same answer is a refusal.
 */
export function isSessionLost(error: unknown, { trace, hasServerSession }: FailedCall): boolean {
  const { sent, status } = trace;
  if (!sent || !hasServerSession || status === undefined) return false;
  if (LOST_SESSION_STATUSES.includes(status)) return true;
  const isSaid = (text: unknown) => typeof text === "string" && LOST_SESSION.test(text.slice(0, 500));
  if (error instanceof SdkHttpError) return status === 503 && isSaid(error.data.text);
  return error instanceof ProtocolError && isLostSessionCode(error.code) && isSaid(error.message);
}

/** True when the server says that the call had no effect: in the data of its error, or in a `_meta`. */
function isWithoutEffect({ data }: ProtocolError, { answer }: CallTrace): boolean {
  const raw = answer && "error" in answer && isJsonObject(answer.error) ? answer.error["_meta"] : undefined;
  const said = JsonValueSchema.safeParse(data).data;
  return [raw, said, isJsonObject(said) ? said["_meta"] : undefined].some(saysNoEffect);
}

/** True for an answer that is not a valid message of the protocol: not JSON, or of another form or type. */
function isUnreadable(error: unknown): boolean {
  if (error instanceof SdkError) return error.code === SdkErrorCode.ClientHttpUnexpectedContent;
  return error instanceof SyntaxError || (error instanceof Error && error.name.endsWith("ZodError"));
}

function notSent(error: unknown, { server }: FailedCall): Failure {
  const forbidden = forbiddenAddress(error, server);
  if (forbidden) return forbidden;
  // The code behind it is of another server.
  const code = error instanceof NoTokenError ? undefined : errorCodeOf(error);
  const reason = code ?? (error instanceof Error ? error.message : String(error));
  const message =
    error instanceof ServerUnreachableError ? error.message : `Server ${server} cannot be reached: ${reason}`;
  return failed("TOOL_UNREACHABLE", message, "none", true);
}

/** The failure of a call to a server that refuses access; undefined for every other error. */
export function refusedAccess(error: unknown, server: string): Failure | undefined {
  const cause = error instanceof ServerUnreachableError ? error.cause : error;
  const status = cause instanceof SdkHttpError ? cause.status : undefined;
  if (status !== 401 && status !== 403) return undefined;
  return failed("TOOL_UNAUTHORIZED", `Server ${server} refuses access (HTTP ${status})`, "none", false);
}

/** The failure of a call to a server whose address is not permitted; undefined for every other error. */
export function forbiddenAddress(error: unknown, server: string): Failure | undefined {
  for (let current: unknown = error, depth = 0; current instanceof Error && depth < 8; depth++) {
    if (current instanceof CodedError && current.code === "ADDRESS_FORBIDDEN")
      return failed("ADDRESS_FORBIDDEN", `Server ${server}: ${current.message}`, "none", false);
    current = current.cause;
  }
  return undefined;
}

function lost({ tool, server }: FailedCall): Failure {
  const message = `${tool}: the connection to ${server} was lost before the answer came`;
  return failed("TOOL_CONNECTION_LOST", message, "unknown", true);
}

/**
 * A status below 500 is sent before a call is processed; after a status of 500 or more the call may have been
 * made.
 */
function outcomeOfStatus(status: number, error: unknown, call: FailedCall): Failure {
  const { server, tool, trace, ownName } = call;
  const { retryAfterMs } = trace;
  if (status === 401 || status === 403) {
    return failed(
      "TOOL_UNAUTHORIZED",
      `${tool}: server ${server} refuses access (HTTP ${status})`,
      "none",
      false,
    );
  }
  if (status === 429) {
    return failed(
      "TOOL_RATE_LIMITED",
      `${tool}: server ${server} is called too often`,
      "none",
      true,
      retryAfterMs,
    );
  }
  if (error instanceof ProtocolError && isUnknownTool(error, ownName)) return notFound(tool);
  if (status === 404) {
    const message = `Server ${server} does not know the endpoint or session (HTTP ${status})`;
    return failed("TOOL_UNREACHABLE", message, "none", true);
  }
  if (status < 500 && status !== 408) {
    return failed(
      "TOOL_FAILED",
      `${tool}: server ${server} refused the call (HTTP ${status})`,
      "none",
      false,
    );
  }
  const message = `${tool}: server ${server} failed (HTTP ${status}); the call may have been made`;
  return failed("TOOL_CONNECTION_LOST", message, "unknown", true, retryAfterMs);
}

function outcomeOfProtocolError(error: ProtocolError, { tool, ownName }: FailedCall, said?: "none"): Failure {
  if (isUnknownTool(error, ownName)) return notFound(tool);
  const text = error.message;
  // The ellipsis also shows that the text before it may end with the beginning of a secret.
  const message = `${tool}: ${text.length > 2_000 ? cutText(text, 2_000) : text}`;
  const effect = said ?? (NOT_PROCESSED.includes(error.code) ? "none" : "reported");
  const { data } = depthOf(error.data, MAX_DEPTH) > MAX_DEPTH ? {} : JsonValueSchema.safeParse(error.data);
  // A server with an internal error may have failed after the effect.
  if (error.code === ProtocolErrorCode.InternalError && effect !== "none")
    return failed("TOOL_FAILED", message, "unknown", true, undefined, data);
  return failed("TOOL_FAILED", message, effect, false, undefined, data);
}

/** The tool answered with something else than a result, such as a task that it has begun. */
function otherResult({ tool }: FailedCall, data: unknown): Failure {
  const type =
    typeof data === "object" && data !== null && "resultType" in data ? data.resultType : undefined;
  if (type === "input_required")
    return failed("TOOL_FAILED", `${tool}: it asks for input, which a plan cannot give`, "reported", false);
  const kind = typeof type === "string" ? ` of the type ${JSON.stringify(beginningOfText(type, 100))}` : "";
  const message = `${tool}: it gave an answer${kind}, which is no result; whether it acts is not known`;
  return failed("TOOL_FAILED", message, "unknown", false);
}

function outcomeOfSdkError(error: SdkError, call: FailedCall): Failure | undefined {
  const { tool, server, timeoutMs } = call;
  switch (error.code) {
    case SdkErrorCode.RequestTimeout:
      if (call.cancelled) {
        const message = `${tool}: the call was cancelled before ${server} answered`;
        return failed("CANCELLED", message, "unknown", false);
      }
      return failed("TOOL_TIMEOUT", `${tool}: no answer within ${timeoutMs} ms`, "unknown", true);
    case SdkErrorCode.NotConnected:
      return notSent(error, call);
    case SdkErrorCode.InvalidResult:
      return failed(
        "TOOL_RESULT_INVALID",
        `${tool}: the result is not a valid MCP result`,
        "reported",
        false,
      );
    case SdkErrorCode.UnsupportedResultType:
      return otherResult(call, error.data);
    case SdkErrorCode.MethodNotSupportedByProtocolVersion:
    case SdkErrorCode.CapabilityNotSupported:
      return failed("TOOL_NOT_FOUND", `Server ${server} does not offer tools`, "none", false);
    default:
      return undefined;
  }
}

/** The failure of a call to a tool that does not exist. @param leftOut - why a listed tool was left out */
export function notFound(tool: string, server?: string, leftOut?: string): Failure {
  const where = server === undefined ? "" : ` on server ${server}`;
  const why = leftOut === undefined ? "" : `: it is listed, but it was left out because ${leftOut}`;
  return failed("TOOL_NOT_FOUND", `There is no tool ${tool}${where}${why}`, "none", false);
}

function isUnknownTool(error: ProtocolError, tool: string): boolean {
  if (error.code !== ProtocolErrorCode.InvalidParams && error.code !== ProtocolErrorCode.MethodNotFound)
    return false;
  return isUnknownToolText(error.message, tool);
}

/** True for the messages with which servers built on the official libraries report an unknown tool. */
export function isUnknownToolText(text: string, tool: string): boolean {
  const reported = text.replace(/^MCP error -\d+: /, "");
  const names = [tool, `'${tool}'`, `"${tool}"`];
  return names.some(
    (name) =>
      reported === `Tool ${name} not found` ||
      reported === `Tool not found: ${name}` ||
      reported === `Unknown tool: ${name}`,
  );
}

/** The code of a Node error, or of its cause. */
function errorCodeOf(error: unknown): string | undefined {
  for (let current: unknown = error, depth = 0; current instanceof Error && depth < 5; depth++) {
    if (!(current instanceof CodedError) && !(current instanceof SdkError) && "code" in current) {
      if (typeof current.code === "string") return current.code;
    }
    current = current.cause;
  }
  return undefined;
}

/** An {@link Outcome} of type failed. */
export function failed(
  code: StepErrorCode,
  message: string,
  effect: Failure["effect"],
  retryable: boolean,
  retryAfterMs?: number,
  data?: JsonValue,
): Failure {
  const error = { code, message, retryable, ...(data === undefined ? {} : { data }) };
  return { type: "failed", error, effect, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
}
