import { isJsonObject, type JsonValue, outputOfToolResult } from "@planwright/plan";
import type { Outcome } from "../state/protocol.ts";

/**
 * How a call ended, from what `callTool` returned: an MCP result (`content`, `structuredContent`, `isError`),
 * or any value that JSON can carry; a text is what a tool that answers with this text would give, nothing at
 * all is null.
 */
export function outcomeOfValue(value: unknown): Outcome {
  let json: JsonValue;
  try {
    const text: string | undefined = JSON.stringify(value);
    json = text === undefined ? null : JSON.parse(text);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return invalidResult(`The tool returned what JSON cannot carry: ${error.message}`);
  }
  const result = toToolResult(json);
  if (!result) return { type: "completed", output: json };
  const read = outputOfToolResult(result);
  if (read.ok) return { type: "completed", output: read.output, text: read.text };
  return { type: "failed", error: { ...read.error, retryable: false }, effect: "reported" };
}

function invalidResult(message: string): Outcome {
  const error = { code: "TOOL_RESULT_INVALID", message, retryable: false };
  return { type: "failed", error, effect: "reported" };
}

/** The MCP form of a value that has one. */
function toToolResult(value: JsonValue): JsonValue | undefined {
  if (typeof value === "string") return { content: [{ type: "text", text: value }] };
  if (!isJsonObject(value)) return undefined;
  const isResult =
    value["isError"] === true ||
    (Object.hasOwn(value, "structuredContent") && isJsonObject(value["structuredContent"])) ||
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

/** Content for results that carry an error without any. */
function textOf(value: { [key: string]: JsonValue }): JsonValue {
  const text = [value["error"], value["message"], value["content"]].find((one) => typeof one === "string");
  return text === undefined ? [] : [{ type: "text", text }];
}

/** What a thrown value may say about the call, beside its message. */
interface ErrorHints {
  code?: unknown;
  retryable?: unknown;
  effect?: unknown;
  retryAfterMs?: unknown;
}

/**
 * How a call ended that threw. By default it counts as reported by the tool and as retryable (classes K and R
 * only are repeated). The error may say more: `code`, `retryable`, `effect` ("none", "reported", "unknown"),
 * `retryAfterMs`.
 */
export function outcomeOfThrown(thrown: unknown): Outcome {
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
