import {
  digitsOf,
  exactNumberOf,
  isJsonObject,
  type JsonValue,
  mapExact,
  outputOfToolResult,
} from "@planwright/plan";
import type { Call, Outcome } from "../state/protocol.ts";
import type { Clock } from "./clock.ts";

/**
 * Makes a call of a tool: returns a value or an MCP result, or throws. A number that a double would change is
 * the text of its digits in the arguments, because JavaScript has no such number.
 */
export type CallTool = (call: Call, options: { signal: AbortSignal }) => unknown;

/** A running call. */
export interface RunningCall {
  /**
   * Aborts the call: the tool's signal is aborted, and after the grace period the call ends without its
   * answer.
   */
  abort(): void;
}

/** Grace period of an aborted call, in milliseconds. */
const ABORT_GRACE_MS = 5_000;

/** Makes one call with its timeout. `done` is called exactly once. */
export function makeCall(parts: {
  call: Call;
  callTool: CallTool;
  clock: Clock;
  done: (outcome: Outcome) => void;
}): RunningCall {
  const { call, callTool, clock } = parts;
  const controller = new AbortController();
  let hasEnded = false;
  let wasAborted = false;
  let stopWaiting = () => {};
  const finish = (outcome: Outcome) => {
    if (hasEnded) return;
    hasEnded = true;
    stopWaiting();
    parts.done(outcome);
  };
  stopWaiting = clock.at(clock.now() + call.timeoutMs, () => {
    finish(lost("TOOL_TIMEOUT", `${call.tool} gave no answer within ${call.timeoutMs} ms`));
    controller.abort();
  });
  void run();
  return {
    abort() {
      if (hasEnded || wasAborted) return;
      wasAborted = true;
      stopWaiting();
      stopWaiting = clock.at(clock.now() + ABORT_GRACE_MS, () =>
        finish(lost("CANCELLED", `${call.tool} did not stop within ${ABORT_GRACE_MS} ms`)),
      );
      controller.abort();
    },
  };

  async function run(): Promise<void> {
    const args = mapExact(call.arguments, digitsOf);
    try {
      finish(outcomeOfValue(await callTool({ ...call, arguments: args }, { signal: controller.signal })));
    } catch (error) {
      finish(wasAborted && !saysEffect(error) ? { type: "aborted" } : outcomeOfThrown(error));
    }
  }
}

/** An outcome with unknown effect. */
function lost(code: string, message: string): Outcome {
  return { type: "failed", error: { code, message, retryable: true }, effect: "unknown" };
}

/**
 * The outcome of a call from the value that `callTool` returned: an MCP result (`content`,
 * `structuredContent`, `isError`) or any JSON value. A string counts as a result with this text; undefined
 * counts as null. A bigint is a number with all its digits.
 */
export function outcomeOfValue(value: unknown): Outcome {
  let json: JsonValue;
  try {
    const text: string | undefined = JSON.stringify(value, (_, inner: unknown) =>
      typeof inner === "bigint" ? exactNumberOf(String(inner)) : inner,
    );
    json = text === undefined ? null : JSON.parse(text);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return invalidResult(`The tool returned a value that is not JSON: ${error.message}`);
  }
  const result = toToolResult(json);
  if (!result) return { type: "completed", output: json };
  const read = outputOfToolResult(result);
  if (read.ok) {
    const { output, text, warnings } = read;
    return { type: "completed", output, text, ...(warnings && { warnings }) };
  }
  const { effect = "reported", ...error } = read.error;
  return { type: "failed", error: { ...error, retryable: false }, effect };
}

function invalidResult(message: string): Outcome {
  const error = { code: "TOOL_RESULT_INVALID", message, retryable: false };
  return { type: "failed", error, effect: "reported" };
}

/** The value as an MCP result; undefined when it is another JSON value. */
function toToolResult(value: JsonValue): JsonValue | undefined {
  if (typeof value === "string") return { content: [{ type: "text", text: value }] };
  if (!isJsonObject(value)) return undefined;
  const isResult =
    value["isError"] === true ||
    (Object.hasOwn(value, "structuredContent") &&
      (isJsonObject(value["structuredContent"]) || Object.hasOwn(value, "content"))) ||
    isContent(value["content"]);
  if (!isResult) return undefined;
  return Array.isArray(value["content"]) ? value : { ...value, content: textOf(value) };
}

function isContent(content: JsonValue | undefined): boolean {
  return (
    Array.isArray(content) &&
    content.every((block) => isJsonObject(block) && typeof block["type"] === "string")
  );
}

/** Content for a result without content: its error or message as text. */
function textOf(value: { [key: string]: JsonValue }): JsonValue {
  const text = [value["error"], value["message"], value["content"]].find((one) => typeof one === "string");
  return text === undefined ? [] : [{ type: "text", text }];
}

/** True for a thrown value that says that the call acted or may have acted: then an abort did not stop it. */
function saysEffect(thrown: unknown): boolean {
  const { effect }: ErrorHints = typeof thrown === "object" && thrown !== null ? thrown : {};
  return effect === "unknown" || effect === "reported";
}

/** Optional fields of a thrown value. */
interface ErrorHints {
  code?: unknown;
  retryable?: unknown;
  effect?: unknown;
  retryAfterMs?: unknown;
}

/**
 * The outcome of a call that threw. By default the error counts as reported by the tool and as retryable
 * (only classes K and R are repeated). The thrown value may set `code`, `retryable`, `effect` ("none",
 * "reported", "unknown") and `retryAfterMs`.
 */
function outcomeOfThrown(thrown: unknown): Outcome {
  const hints: ErrorHints = typeof thrown === "object" && thrown !== null ? thrown : {};
  const { effect, retryAfterMs } = hints;
  return {
    type: "failed",
    error: {
      code: typeof hints.code === "string" && hints.code !== "" ? hints.code : "TOOL_FAILED",
      message: thrown instanceof Error ? thrown.message : String(thrown),
      retryable: hints.retryable !== false,
    },
    effect: effect === "none" || effect === "unknown" ? effect : "reported",
    ...(typeof retryAfterMs === "number" && retryAfterMs >= 0 ? { retryAfterMs } : {}),
  };
}
