import type { JsonObject } from "@planwright/plan";
import {
  argumentText,
  type ModelRequest,
  piecesOf,
  type ScriptedAnswer,
  usageOf,
} from "./model-server-reply.ts";

const STOP_REASONS = {
  stop: "end_turn",
  length: "max_tokens",
  content_filter: "refusal",
  tool_calls: "tool_use",
};

/** `POST /v1/messages` without `stream`. */
export function anthropicBody(reply: ScriptedAnswer, request: ModelRequest): JsonObject {
  const { outputTokens } = usageOf(reply, request);
  return {
    ...messageOf(request),
    content: [
      ...(reply.text === undefined ? [] : [{ type: "text", text: reply.text }]),
      ...(reply.toolCalls ?? []).map((call, index) => ({
        type: "tool_use",
        id: call.id ?? `toolu_${index}`,
        name: call.name,
        input: typeof call.arguments === "string" ? {} : call.arguments,
      })),
    ],
    stop_reason: stopReasonOf(reply),
    usage: { ...inputUsage(reply, request), output_tokens: outputTokens },
  };
}

/** Anthropic counts cached input separately from other input. */
function inputUsage(reply: ScriptedAnswer, request: ModelRequest): JsonObject {
  const { inputTokens, cachedInputTokens } = usageOf(reply, request);
  return cachedInputTokens === undefined
    ? { input_tokens: inputTokens }
    : { input_tokens: inputTokens - cachedInputTokens, cache_read_input_tokens: cachedInputTokens };
}

/** The answer as server-sent events, one text for each event. */
export function anthropicEvents(reply: ScriptedAnswer, request: ModelRequest): string[] {
  const { outputTokens } = usageOf(reply, request);
  const message = { ...messageOf(request), usage: { ...inputUsage(reply, request), output_tokens: 0 } };
  const blocks: { start: JsonObject; deltas: JsonObject[] }[] = [];
  if (reply.text !== undefined) {
    blocks.push({
      start: { type: "text", text: "" },
      deltas: piecesOf(reply.text, reply.chunkSize).map((text) => ({ type: "text_delta", text })),
    });
  }
  for (const [index, call] of (reply.toolCalls ?? []).entries()) {
    blocks.push({
      start: { type: "tool_use", id: call.id ?? `toolu_${index}`, name: call.name, input: {} },
      deltas: piecesOf(argumentText(call)).map((piece) => ({
        type: "input_json_delta",
        partial_json: piece,
      })),
    });
  }
  return [
    event("message_start", { message }),
    ...blocks.flatMap(({ start, deltas }, index) => [
      event("content_block_start", { index, content_block: start }),
      ...deltas.map((delta) => event("content_block_delta", { index, delta })),
      event("content_block_stop", { index }),
    ]),
    event("message_delta", {
      delta: { stop_reason: stopReasonOf(reply), stop_sequence: null },
      usage: { output_tokens: outputTokens },
    }),
    event("message_stop", {}),
  ];
}

/** An error in Anthropic's form. */
export const anthropicError = (status: number, message: string): JsonObject => ({
  type: "error",
  error: {
    type: status === 429 ? "rate_limit_error" : status === 401 ? "authentication_error" : "api_error",
    message,
  },
});

const event = (type: string, data: JsonObject) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;

const stopReasonOf = (reply: ScriptedAnswer) =>
  STOP_REASONS[reply.finishReason ?? (reply.toolCalls ? "tool_calls" : "stop")];

const messageOf = (request: ModelRequest): JsonObject => ({
  id: "msg_scripted",
  type: "message",
  role: "assistant",
  model: request.body["model"] ?? "scripted",
  content: [],
  stop_reason: null,
  stop_sequence: null,
});
