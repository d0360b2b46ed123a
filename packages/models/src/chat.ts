import type { SentMessage } from "./drafter.ts";

/** A piece of a streamed answer, as far as this package reads it. */
export interface ChatChunk {
  text: string;
  inputTokens?: number | undefined;
  outputTokens?: number | undefined;
  finishReason?: string | undefined;
  refusal?: string | undefined;
}

/** One provider's chat model, reduced to what drafting needs. */
export interface Chat {
  stream(
    messages: readonly SentMessage[],
    options: { signal: AbortSignal; isStructured: boolean },
  ): AsyncIterable<ChatChunk>;
  /** True when the provider can be asked for an answer that fits a JSON Schema. */
  hasStructuredOutput: boolean;
}
