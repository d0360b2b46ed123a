import type { JsonObject } from "@planwright/plan";

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
  /** An object is sent as JSON text; text is sent as it is, valid or not. */
  arguments: JsonObject | string;
  id?: string;
}

/** Tokens of a call as the provider reports them. */
export interface ScriptedUsage {
  inputTokens: number;
  outputTokens: number;
  /** Those of `inputTokens` that came from a cache; absent: nothing is said of it. */
  cachedInputTokens?: number;
}

/** A complete answer. */
export interface ScriptedAnswer {
  type: "answer";
  text?: string;
  toolCalls?: readonly ScriptedToolCall[];
  /** In the words of the OpenAI protocol; default "stop", or "tool_calls" with tool calls. */
  finishReason?: "stop" | "length" | "content_filter" | "tool_calls";
  /** The model declines, in the field that the protocol has for it. */
  refusal?: string;
  /** Default: one token for four characters. */
  usage?: ScriptedUsage;
  /** Characters in one piece of a stream; default 16. */
  chunkSize?: number;
  /** Wait before the first piece, in milliseconds; default 0. */
  firstTokenMs?: number;
  /** Wait before each further piece, in milliseconds; default 0. */
  perChunkMs?: number;
}

/** What the server does with one request. */
export type ScriptedReply =
  | ScriptedAnswer
  /** An HTTP error in the protocol's own form. */
  | { type: "error"; status: number; retryAfterSeconds?: number; message?: string }
  /** The connection stays open and nothing ever comes. */
  | { type: "hang" }
  /**
   * Begins to answer and closes the connection after so many characters. Asked for JSON, it closes inside the
   * body.
   */
  | {
      type: "cut";
      text: string;
      afterChars: number;
      /** Ends the body as if it were complete, as proxies do; default: the connection breaks. */
      isClean?: boolean;
    }
  /** Any bytes, for servers that do not keep to the protocol. */
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
  const said = (reply.text ?? "") + JSON.stringify(reply.toolCalls ?? []);
  const asked = body["messages"] ?? body["contents"] ?? "";
  return { inputTokens: tokens(JSON.stringify(asked)), outputTokens: tokens(said) };
}

const tokens = (text: string) => Math.max(1, Math.ceil(text.length / 4));

/** Text in pieces of `size` characters, as a stream brings it; never none. */
export function piecesOf(text: string, size = 16): string[] {
  const pieces: string[] = [];
  for (let at = 0; at < text.length; at += size) pieces.push(text.slice(at, at + size));
  return pieces.length > 0 ? pieces : [""];
}

/** The arguments of a tool call as JSON text. */
export const argumentText = (call: ScriptedToolCall) =>
  typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments);
