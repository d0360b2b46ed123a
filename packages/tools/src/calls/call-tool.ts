import { randomUUID } from "node:crypto";
import type { Outcome } from "@planwright/engine";
import { type JsonObject, knownContract, outputOfToolResult, type ToolDescriptor } from "@planwright/plan";
import { TRACE_HEADER } from "../connection/call-trace.ts";
import { ServerUnreachableError } from "../connection/errors.ts";
import { type Session, unlessAborted } from "../connection/open-session.ts";
import type { ServerConnection } from "../connection/server-connection.ts";
import {
  failed,
  forbiddenAddress,
  isSessionLost,
  isUnknownToolText,
  notFound,
  outcomeOfError,
  refusedAccess,
} from "./outcome-of-error.ts";

/** The field in the `_meta` of a call for the idempotency key. */
export const IDEMPOTENCY_KEY_META = "dev.planwright/idempotencyKey";

/** The only field of what stands for large arguments until the request is written. */
const LARGE_ARGUMENTS = "dev.planwright/arguments";

/** One tool call. */
export interface ToolCall {
  /**
   * Name in the catalogue: the name on the server, or `server/tool`. With `server`: the name on that server,
   * even if other servers offer the same name.
   */
  tool: string;
  /** Name of the server in the configuration. */
  server?: string | undefined;
  /** An object, or the JSON text of a large one in UTF-8. */
  arguments: JsonObject | Uint8Array;
  /**
   * Longest wait for the answer, in milliseconds, connecting included. The server's own limit holds as well.
   */
  timeoutMs: number;
  /** Cancels the call: the server is notified, and gets a short time to finish. */
  signal?: AbortSignal | undefined;
  /** The same for every attempt of one call. */
  idempotencyKey?: string | undefined;
  /** Further `_meta`, such as `traceparent`. */
  meta?: JsonObject | undefined;
  /**
   * Called when the connection is open, right before the call is sent, and again when the connection or the
   * tool changed during the answer. The time that it takes is not part of `timeoutMs`.
   * @param offered - the tool as its server lists it now
   */
  beforeSend?: ((offered: ToolDescriptor) => Promise<Clearance>) | undefined;
}

/** Whether a call may be sent: with which arguments, or the outcome instead of the call. */
export type Clearance = { type: "send"; arguments: JsonObject | Uint8Array } | Outcome;

/** Dependencies of one call. */
interface CallContext {
  connection: ServerConnection;
  /**
   * The tool as its server lists it now; undefined when it is not listed. The same object until a new list
   * differs.
   */
  offered: () => ToolDescriptor | undefined;
  /** The name of the tool on its server. */
  ownName: string;
  maxOutputBytes: number;
  /** How long a cancelled call may still finish, in milliseconds. */
  cancelGraceMs: number;
}

/** How often a call is cleared again because its server or tool changed meanwhile. */
const MAX_CLEARANCES = 3;
/** Reads as: the server does not know the session any more, and nothing was executed. */
const SESSION_LOST = Symbol("session lost");

/** Makes a call. Never throws: every failure is an outcome. */
export async function callTool(call: ToolCall, context: CallContext): Promise<Outcome> {
  const { connection, ownName } = context;
  const timeoutMs = Math.min(call.timeoutMs, connection.config.timeoutMs ?? call.timeoutMs);
  let remainingMs = timeoutMs;
  let isReopened = false;
  for (let clearances = 0; clearances < MAX_CLEARANCES; clearances += 1) {
    if (call.signal?.aborted) return { type: "aborted" };
    const startedAt = performance.now();
    let session: Session;
    try {
      session = await connectedSession(connection, remainingMs, call.signal);
    } catch (error) {
      return unreachable(error, call, connection.server);
    }
    remainingMs = remainingAfter(startedAt, remainingMs);
    const descriptor = context.offered();
    if (descriptor === undefined) return notFound(ownName, connection.server);
    const clearance = await clearanceOf(call, descriptor, connection.server);
    if (clearance && clearance.type !== "send") return clearance;
    // From here on a cancel is heard, not one that came during the clearance.
    if (call.signal?.aborted) return { type: "aborted" };
    // The clearance is for this tool over this connection only.
    if (context.offered() !== descriptor || !connection.isCurrent(session)) continue;
    const { arguments: args } = clearance ?? call;
    const sentAt = performance.now();
    const outcome = await send(
      { ...call, arguments: args },
      { ...context, descriptor, session, timeoutMs, remainingMs, isReopened },
    );
    if (outcome !== SESSION_LOST) return outcome;
    isReopened = true;
    remainingMs = remainingAfter(sentAt, remainingMs);
    connection.suspect(session, "its session was lost");
  }
  const message = `Server ${connection.server} reconnected, or its tools changed, each time before ${ownName} could be called`;
  return failed("TOOL_UNREACHABLE", message, "none", true);
}

/** What is left of a time since then, in milliseconds. */
function remainingAfter(startedAt: number, ms: number): number {
  return Math.max(1, Math.round(ms - (performance.now() - startedAt)));
}

function unreachable(error: unknown, call: ToolCall, server: string): Outcome {
  if (call.signal?.aborted) return { type: "aborted" };
  const refused = forbiddenAddress(error, server) ?? refusedAccess(error, server);
  if (refused) return refused;
  const message = error instanceof ServerUnreachableError ? error.message : String(error);
  return failed("TOOL_UNREACHABLE", message, "none", true);
}

async function connectedSession(
  connection: ServerConnection,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<Session> {
  const current = connection.current();
  if (current) return current;
  const waiting = new AbortController();
  const stop = () => waiting.abort();
  const timer = setTimeout(stop, timeoutMs);
  signal?.addEventListener("abort", stop, { once: true });
  try {
    return await connection.session(waiting.signal);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", stop);
  }
}

/** What `beforeSend` says. A cancelled call does not wait for it: it may wait for a database or for Redis. */
async function clearanceOf(
  { beforeSend, signal }: ToolCall,
  offered: ToolDescriptor,
  server: string,
): Promise<Clearance | undefined> {
  const clearance = beforeSend?.(offered);
  if (!clearance || !signal) return clearance;
  const cancelled = () => new ServerUnreachableError(server, "the call was cancelled");
  return await unlessAborted(clearance, signal, cancelled).catch((error: unknown): Clearance => {
    if (signal.aborted) return { type: "aborted" };
    throw error;
  });
}

async function send(
  call: ToolCall,
  context: CallContext & {
    session: Session;
    descriptor: ToolDescriptor;
    timeoutMs: number;
    remainingMs: number;
    /** True when the session was opened for this call, because the one before was lost. */
    isReopened: boolean;
  },
): Promise<Outcome | typeof SESSION_LOST> {
  const { session, connection, descriptor, ownName, remainingMs, timeoutMs } = context;
  const trace = session.begin();
  let args: JsonObject;
  if (call.arguments instanceof Uint8Array) {
    // Not known to anyone before, so no other part of the request can be taken for it.
    args = { [LARGE_ARGUMENTS]: randomUUID() };
    trace.large = { mark: JSON.stringify(args), bytes: call.arguments };
  } else args = call.arguments;
  const isBatch = knownContract(descriptor).contract.batch !== undefined;
  trace.tool = { ownName, outputSchema: descriptor.outputSchema, isBatch };
  const stopping = call.signal === undefined ? undefined : new AbortController();
  const cancel = () => {
    if (stopping !== undefined) cancelCall(session, trace.requestId, stopping, context.cancelGraceMs);
  };
  call.signal?.addEventListener("abort", cancel, { once: true });
  try {
    const answer = session.client.callTool(
      {
        name: ownName,
        arguments: args,
        _meta: {
          ...call.meta,
          ...(call.idempotencyKey === undefined ? {} : { [IDEMPOTENCY_KEY_META]: call.idempotencyKey }),
        },
      },
      {
        timeout: remainingMs,
        ...(stopping === undefined ? {} : { signal: stopping.signal }),
        headers: { [TRACE_HEADER]: trace.id },
        // Without the output schema: the SDK would throw for a result that violates it, although the tool has
        // acted.
        toolDefinition: { name: ownName, inputSchema: { type: "object", ...descriptor.inputSchema } },
      },
    );
    const readable = await Promise.race([answer, trace.failed]).catch(async (error: unknown) => {
      // The answer may have come, and is being read.
      await trace.reading;
      if (trace.answer && "outcome" in trace.answer) return undefined;
      throw error;
    });
    if (trace.answer && "outcome" in trace.answer) return trace.answer.outcome;
    // The answer as it came: `readable` has only what the SDK knows.
    const result = trace.answer && "result" in trace.answer ? trace.answer.result : readable;
    return outcomeOfResult(result, ownName, context.maxOutputBytes);
  } catch (error) {
    const cancelled = call.signal?.aborted ?? false;
    if (cancelled && !trace.sent) return { type: "aborted" };
    const { server } = connection;
    const { hasServerSession } = session;
    const failedCall = { tool: call.tool, ownName, server, timeoutMs, trace, cancelled, hasServerSession };
    if (!cancelled && !context.isReopened && isSessionLost(error, failedCall)) return SESSION_LOST;
    const outcome = outcomeOfError(error, failedCall);
    if (outcome.error.code === "TOOL_UNREACHABLE") connection.suspect(session, outcome.error.message);
    if (outcome.error.code === "TOOL_CONNECTION_LOST") connection.probe(session);
    return outcome;
  } finally {
    call.signal?.removeEventListener("abort", cancel);
    session.end(trace);
  }
}

/**
 * Notifies the server and stops waiting: at once where no answer can come, otherwise after the grace period.
 */
function cancelCall(
  session: Session,
  requestId: string | number | undefined,
  stopping: AbortController,
  graceMs: number,
): void {
  if (session.cancelsByClosing || requestId === undefined) return stopping.abort("cancelled");
  setTimeout(() => stopping.abort("cancelled"), graceMs).unref();
  const params = { requestId, reason: "cancelled" };
  session.client.notification({ method: "notifications/cancelled", params }).catch(() => {
    stopping.abort("cancelled");
  });
}

/** The outcome of a call from the result that its tool returned. */
export function outcomeOfResult(result: unknown, ownName: string, maxOutputBytes: number): Outcome {
  const read = outputOfToolResult(result, { maxBytes: maxOutputBytes, isParsed: true });
  if (!read.ok) {
    const { code, message, data, effect = "reported" } = read.error;
    if (isUnknownToolText(message, ownName)) return notFound(ownName);
    return failed(code, message, effect, false, undefined, data);
  }
  const { output, text, warnings } = read;
  return { type: "completed", output, text, ...(warnings && { warnings }) };
}
