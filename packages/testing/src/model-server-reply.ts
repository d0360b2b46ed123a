import type { JsonObject, JsonValue } from "@planwright/plan";

/** Protocols that the server speaks. */
export type ModelProtocolName = "openai" | "anthropic" | "google" | "mistral";

/** One request as the server received it. */
export interface ModelRequest {
  protocol: ModelProtocolName;
  /** From 0, in the order of arrival. */
  index: number;
  headers: Readonly<Record<string, string>>;
  /** The parsed body; an empty object when it was not JSON. */
  body: JsonObject;
  isStream: boolean;
}

/** A tool call in an answer. */
export interface ScriptedToolCall {
  name: string;
  /** An object is sent as JSON text; text is sent unchanged, valid or not. */
  arguments: JsonObject | string;
  id?: string;
}

/** Tokens of a call as the provider reports them. */
interface ScriptedUsage {
  inputTokens: number;
  outputTokens: number;
  /** Those of `inputTokens` that came from a cache; absent: the answer does not say. */
  cachedInputTokens?: number;
}

/** A complete answer. */
export interface ScriptedAnswer {
  type: "answer";
  text?: string;
  toolCalls?: readonly ScriptedToolCall[];
  /** The finish reason of the OpenAI protocol. Default: "stop", or "tool_calls" with tool calls. */
  finishReason?: "stop" | "length" | "content_filter" | "tool_calls";
  /** The model declines; sent in the refusal field of the protocol. */
  refusal?: string;
  /** Default: one token for each four characters. */
  usage?: ScriptedUsage;
  /** Characters in each piece of a stream. Default: 16. */
  chunkSize?: number;
  /** Wait before the first piece, in milliseconds. Default: 0. */
  firstTokenMs?: number;
  /**
   * Awaited before each event of a stream with the event's text, such as for a slow answer, or one that is
   * held back while a test looks at its beginning. Default: no wait.
   */
  beforeEvent?: (event: string) => Promise<void>;
}

/** The server's reply to one request. */
export type ScriptedReply =
  | ScriptedAnswer
  /** An HTTP error in the form of the protocol. */
  | { type: "error"; status: number; retryAfterSeconds?: number; message?: string }
  /** The connection stays open without any answer. */
  | { type: "hang" }
  /**
   * Begins to answer and closes the connection after this number of characters; a JSON answer is cut inside
   * its body.
   */
  | {
      type: "cut";
      text: string;
      afterChars: number;
      /** Ends the body as if it were complete, like some proxies. Default: the connection breaks. */
      isClean?: boolean;
    }
  /** Any bytes, for servers that do not follow the protocol. */
  | { type: "raw"; status: number; contentType: string; body: string };

/** An answer with this text, or with this value as JSON text. */
export function answer(
  text: string | JsonObject,
  rest: Omit<ScriptedAnswer, "type" | "text"> = {},
): ScriptedAnswer {
  return { type: "answer", text: typeof text === "string" ? text : JSON.stringify(text), ...rest };
}

/** The token counts of an answer, as scripted or by its length. */
export function usageOf(reply: ScriptedAnswer, { body }: ModelRequest): ScriptedUsage {
  if (reply.usage) return reply.usage;
  const answerText = (reply.text ?? "") + JSON.stringify(reply.toolCalls ?? []);
  const prompt = body["messages"] ?? body["contents"] ?? "";
  return { inputTokens: tokens(JSON.stringify(prompt)), outputTokens: tokens(answerText) };
}

const tokens = (text: string) => Math.max(1, Math.ceil(text.length / 4));

/** Text in pieces of `size` characters, like a stream; at least one piece. */
export function piecesOf(text: string, size = 16): string[] {
  const pieces: string[] = [];
  for (let at = 0; at < text.length; at += size) pieces.push(text.slice(at, at + size));
  return pieces.length > 0 ? pieces : [""];
}

/** The arguments of a tool call as JSON text. */
const argumentText = (call: ScriptedToolCall) =>
  typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments);

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

/** The answer as server-sent events, one text for each anthropicEvent. */
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
    anthropicEvent("message_start", { message }),
    ...blocks.flatMap(({ start, deltas }, index) => [
      anthropicEvent("content_block_start", { index, content_block: start }),
      ...deltas.map((delta) => anthropicEvent("content_block_delta", { index, delta })),
      anthropicEvent("content_block_stop", { index }),
    ]),
    anthropicEvent("message_delta", {
      delta: { stop_reason: stopReasonOf(reply), stop_sequence: null },
      usage: { output_tokens: outputTokens },
    }),
    anthropicEvent("message_stop", {}),
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

const anthropicEvent = (type: string, data: JsonObject) =>
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
