import type { JsonObject, JsonValue } from "@planwright/plan";
import {
  argumentText,
  type ModelRequest,
  piecesOf,
  type ScriptedAnswer,
  usageOf,
} from "./model-server-reply.ts";

/** Clients identify messages by their ids, so each answer has a different id. */
const idOf = ({ index }: ModelRequest) => `chatcmpl-scripted-${index}`;
const CREATED = 1_700_000_000;

/** `POST /v1/chat/completions` without `stream`. */
export function openAiBody(reply: ScriptedAnswer, request: ModelRequest): JsonObject {
  const message: JsonObject = {
    role: "assistant",
    content: reply.text ?? null,
    refusal: reply.refusal ?? null,
  };
  if (reply.toolCalls) message["tool_calls"] = toolCallsOf(reply);
  return {
    id: idOf(request),
    object: "chat.completion",
    created: CREATED,
    model: request.body["model"] ?? "scripted",
    choices: [{ index: 0, message, logprobs: null, finish_reason: finishReasonOf(reply) }],
    usage: openAiUsage(reply, request),
  };
}

/** Token counts in the fields of the protocol. */
export function openAiUsage(reply: ScriptedAnswer, request: ModelRequest): JsonObject {
  const { inputTokens, outputTokens, cachedInputTokens } = usageOf(reply, request);
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    ...(cachedInputTokens === undefined
      ? {}
      : { prompt_tokens_details: { cached_tokens: cachedInputTokens } }),
  };
}

/**
 * The answer as server-sent events, one text for each event.
 * @param last - additional fields of the chunk with the finish reason
 */
export function openAiEvents(reply: ScriptedAnswer, request: ModelRequest, last: JsonObject = {}): string[] {
  const chunk = (rest: JsonObject) =>
    event({
      id: idOf(request),
      object: "chat.completion.chunk",
      created: CREATED,
      model: request.body["model"] ?? "scripted",
      ...rest,
    });
  const delta = (value: JsonObject, finishReason: string | null = null, rest: JsonObject = {}) =>
    chunk({ choices: [{ index: 0, delta: value, logprobs: null, finish_reason: finishReason }], ...rest });
  const events = [delta({ role: "assistant", content: "" })];
  if (reply.text !== undefined) {
    for (const piece of piecesOf(reply.text, reply.chunkSize)) events.push(delta({ content: piece }));
  }
  if (reply.refusal !== undefined) {
    for (const piece of piecesOf(reply.refusal, reply.chunkSize)) events.push(delta({ refusal: piece }));
  }
  for (const [index, call] of toolCallsOf(reply).entries())
    events.push(delta({ tool_calls: [{ index, ...call }] }));
  events.push(delta({}, finishReasonOf(reply), last));
  if (wantsUsage(request)) events.push(chunk({ choices: [], usage: openAiUsage(reply, request) }));
  return [...events, "data: [DONE]\n\n"];
}

/** An error in OpenAI's form. */
export const openAiError = (status: number, message: string): JsonObject => ({
  error: {
    message,
    type: status === 429 ? "rate_limit_error" : "invalid_request_error",
    param: null,
    code: null,
  },
});

const event = (data: JsonValue) => `data: ${JSON.stringify(data)}\n\n`;

const finishReasonOf = (reply: ScriptedAnswer) =>
  reply.finishReason ?? (reply.toolCalls ? "tool_calls" : "stop");

const toolCallsOf = (reply: ScriptedAnswer): JsonObject[] =>
  (reply.toolCalls ?? []).map((call, index) => ({
    id: call.id ?? `call_${index}`,
    type: "function",
    function: { name: call.name, arguments: argumentText(call) },
  }));

function wantsUsage({ body }: ModelRequest): boolean {
  const options = body["stream_options"];
  return (
    typeof options === "object" &&
    options !== null &&
    !Array.isArray(options) &&
    options["include_usage"] === true
  );
}
