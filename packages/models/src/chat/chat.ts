import type { AnswerSchema, OfferedTool } from "../draft/asked.ts";
import type { SentMessage } from "../draft/sent-message.ts";

/** A piece of a streamed answer, with the fields that this package reads. */
export interface ChatChunk {
  text: string;
  /** A piece of the arguments of a tool call, as JSON text. */
  toolArguments: string;
  /** Pieces of calls of offered tools: `index` identifies the call, and its first piece has the name. */
  toolCalls?: readonly { index: number; name: string; arguments: string }[];
  inputTokens?: number | undefined;
  outputTokens?: number | undefined;
  /** Those of `inputTokens` that the provider has cached from an earlier call. */
  cachedInputTokens?: number | undefined;
  finishReason?: string | undefined;
  refusal?: string | undefined;
}

/**
 * How the form of an answer is enforced: by the provider's structured output, by one tool that the model must
 * call, or only by the prompt.
 */
export type AnswerForm = "json-schema" | "tool-call" | "text";

/** Options of one answer. */
export interface ChatOptions {
  signal: AbortSignal;
  form: AnswerForm;
  schema: AnswerSchema | undefined;
  /** Never together with a `schema`. */
  tools?: readonly OfferedTool[] | undefined;
}

/** One provider's chat model, reduced to what this package needs. */
export interface Chat {
  /** Forms that the provider may support, the strictest first; the last one is "text". */
  forms: readonly AnswerForm[];
  /** True when the provider supports tool calling. */
  takesTools: boolean;
  /**
   * @param options - the answer has the form of `schema`; without one it is text, or calls of the offered
   * `tools`
   */
  stream(messages: readonly SentMessage[], options: ChatOptions): AsyncIterable<ChatChunk>;
}
