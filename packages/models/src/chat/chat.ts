import type { AnswerSchema, OfferedTool } from "../draft/asked.ts";
import type { SentMessage } from "../draft/sent-message.ts";

/** A piece of a streamed answer, as far as this package reads it. */
export interface ChatChunk {
  text: string;
  /** A piece of the arguments of a tool call, as JSON text. */
  toolArguments: string;
  /** Pieces of calls of offered tools: calls are told apart by `index`, and a name comes with the first piece of each. */
  toolCalls?: readonly { index: number; name: string; arguments: string }[];
  inputTokens?: number | undefined;
  outputTokens?: number | undefined;
  /** Those of `inputTokens` that the provider had from an earlier call. */
  cachedInputTokens?: number | undefined;
  finishReason?: string | undefined;
  refusal?: string | undefined;
}

/**
 * How a model is held to a form: by a schema of the provider's own, by one tool that it has to call, or by the words of the prompt alone.
 */
export type AnswerForm = "json-schema" | "tool-call" | "text";

/** How one answer is asked for. */
export interface ChatOptions {
  signal: AbortSignal;
  form: AnswerForm;
  schema: AnswerSchema | undefined;
  /** Never beside a `schema`. */
  tools?: readonly OfferedTool[] | undefined;
}

/** One provider's chat model, reduced to what this package needs. */
export interface Chat {
  /** Forms that the provider may know, the strictest first; the last one is "text". */
  forms: readonly AnswerForm[];
  /** True when tools can be offered, to be called by the provider's own means. */
  takesTools: boolean;
  /** @param options - `schema` is what `form` holds the answer to; without one the answer is text, or calls of the offered `tools` */
  stream(messages: readonly SentMessage[], options: ChatOptions): AsyncIterable<ChatChunk>;
}
