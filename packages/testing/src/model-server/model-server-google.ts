import type { JsonObject } from "@planwright/plan";
import { type ModelRequest, piecesOf, type ScriptedAnswer, usageOf } from "./model-server-reply.ts";

const FINISH_REASONS = { stop: "STOP", length: "MAX_TOKENS", content_filter: "SAFETY", tool_calls: "STOP" };

/** `POST /v1beta/models/<model>:generateContent`. */
export function googleBody(reply: ScriptedAnswer, request: ModelRequest): JsonObject {
  const parts: JsonObject[] = [
    ...(reply.text === undefined ? [] : [{ text: reply.text }]),
    ...(reply.toolCalls ?? []).map(({ name, arguments: args }) => ({
      functionCall: { name, args: typeof args === "string" ? {} : args },
    })),
  ];
  return chunkOf(reply, request, parts, true);
}

/** `POST /v1beta/models/<model>:streamGenerateContent?alt=sse`, one text for each event. */
export function googleEvents(reply: ScriptedAnswer, request: ModelRequest): string[] {
  // The answer to a blocked prompt is one event without candidates.
  if (reply.refusal !== undefined) {
    return [event({ promptFeedback: { blockReason: "SAFETY" }, usageMetadata: { promptTokenCount: 1 } })];
  }
  const pieces = reply.text === undefined ? [] : piecesOf(reply.text, reply.chunkSize);
  const calls = (reply.toolCalls ?? []).map(({ name, arguments: args }) => ({
    functionCall: { name, args: typeof args === "string" ? {} : args },
  }));
  return [
    ...pieces.map((text) => event(chunkOf(reply, request, [{ text }], false))),
    event(chunkOf(reply, request, calls, true)),
  ];
}

/** An error in Google's form; a refused key is 400 with a reason. */
export function googleError(status: number, message: string): JsonObject {
  const isKeyRefused = status === 401;
  return {
    error: {
      code: isKeyRefused ? 400 : status,
      message,
      status: STATUS_NAMES[status] ?? "INTERNAL",
      details: isKeyRefused
        ? [{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "API_KEY_INVALID" }]
        : [],
    },
  };
}

/** The HTTP status of Google for an error. */
export const googleStatus = (status: number): number => (status === 401 ? 400 : status);

const STATUS_NAMES: Readonly<Record<number, string>> = {
  400: "INVALID_ARGUMENT",
  401: "INVALID_ARGUMENT",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  429: "RESOURCE_EXHAUSTED",
  503: "UNAVAILABLE",
};

const event = (data: JsonObject) => `data: ${JSON.stringify(data)}\r\n\r\n`;

/** One event. Its usage is cumulative and is in every event. */
function chunkOf(
  reply: ScriptedAnswer,
  request: ModelRequest,
  parts: JsonObject[],
  isLast: boolean,
): JsonObject {
  const { inputTokens, outputTokens, cachedInputTokens } = usageOf(reply, request);
  const finish = isLast ? { finishReason: FINISH_REASONS[reply.finishReason ?? "stop"] } : {};
  const candidates = isLast ? { candidatesTokenCount: outputTokens } : {};
  return {
    candidates: [{ content: { role: "model", parts }, index: 0, ...finish }],
    usageMetadata: {
      promptTokenCount: inputTokens,
      ...candidates,
      totalTokenCount: inputTokens + (isLast ? outputTokens : 0),
      ...(cachedInputTokens === undefined ? {} : { cachedContentTokenCount: cachedInputTokens }),
    },
    modelVersion: request.body["model"] ?? "scripted",
  };
}
