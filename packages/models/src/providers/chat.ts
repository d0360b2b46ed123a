import type { AIMessageChunk, BaseMessageLike } from "@langchain/core/messages";
import { z } from "zod";
import type { AnswerSchema, OfferedTool, SentMessage } from "../draft/drafter.ts";

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

/** A model of a provider, and its address. */
export interface OpenOptions {
  /** The provider's name for the model. */
  model: string;
  /** "provider:model", for errors. */
  name: string;
  apiKey: string;
  baseUrl: string;
  /** The setting that holds the base URL, for errors. */
  baseUrlVariable: string;
  timeoutMs: number;
  maxOutputTokens: number;
}

/** Codes for finish reasons of incomplete answers. */
export type EndingCode = "MODEL_ANSWER_TRUNCATED" | "MODEL_CONTENT_FILTERED" | "MODEL_REFUSED";

/** Meanings of the provider's error codes beyond the HTTP status. */
export type ReasonCode = "MODEL_QUOTA_EXHAUSTED" | "MODEL_UNAUTHORIZED" | "MODEL_CONTENT_FILTERED";

/**
 * All facts about one provider. Its settings are `<NAME>_API_KEY` and `<NAME>_BASE_URL`, by its name in the
 * registry.
 */
export interface ProviderDefinition {
  /** The default address; null when there is none. */
  home: string | null;
  /** The settings that are required to call a model. */
  needs: "key" | "key or base URL" | "base URL";
  /** `gen_ai.provider.name` in traces, from the semantic conventions of OpenTelemetry. */
  traceName: string;
  /** The protocol of `startModelServer` (`@planwright/testing`) that replaces the provider in tests. */
  testProtocol: string;
  /** Finish reasons of incomplete answers; any other reason means a complete answer. */
  endings: Readonly<Record<string, EndingCode>>;
  /** Codes in the body of an error, with their meaning. */
  reasons: Readonly<Record<string, ReasonCode>>;
  /** List prices of common models, as published in November 2026: standard tier, short prompts. */
  prices: Readonly<Record<string, ModelPrice>>;
  /** Loads the provider's library, which takes about half a second. Does not connect yet. */
  open(options: OpenOptions): Promise<Chat>;
}

const usd = z.number().min(0).max(100_000);

/** Prices of a model, in US dollars per million tokens. */
export const ModelPriceSchema = z.strictObject({
  input: usd,
  /** Price of input that the provider has cached. Default: the price of other input. */
  cachedInput: usd.optional(),
  output: usd,
});
export type ModelPrice = z.infer<typeof ModelPriceSchema>;

/** Messages in LangChain's form. */
export const toMessages = (messages: readonly SentMessage[]): BaseMessageLike[] =>
  messages.map(({ role, content }) => ({ role, content }));

/** The fields in which a provider's library puts data that LangChain has no field for. */
interface ChunkFields {
  finishReason: string;
  /** Reads the text of a refusal. Default: there is none. */
  refusalOf?: (fields: Record<string, unknown>) => string | undefined;
}

/** Converts LangChain's stream, piece by piece. */
export async function* chunksOf(
  stream: Promise<AsyncIterable<AIMessageChunk>>,
  fields: ChunkFields,
): AsyncIterable<ChatChunk> {
  for await (const chunk of await stream) yield toChunk(chunk, fields);
}

const count = z.number().int().min(0);
const UsageSchema = z.object({
  input_tokens: count,
  output_tokens: count,
  input_token_details: z.object({ cache_read: count.optional() }).optional(),
});

function toChunk(chunk: AIMessageChunk, { finishReason, refusalOf }: ChunkFields): ChatChunk {
  const facts = { ...chunk.additional_kwargs, ...chunk.response_metadata };
  const usage = UsageSchema.safeParse(chunk.usage_metadata).data;
  return {
    text: chunk.text,
    toolArguments: (chunk.tool_call_chunks ?? []).map(({ args }) => args ?? "").join(""),
    toolCalls: (chunk.tool_call_chunks ?? []).map(({ index = 0, name = "", args = "" }) => ({
      index,
      name,
      arguments: args,
    })),
    inputTokens: usage?.input_tokens,
    outputTokens: usage?.output_tokens,
    cachedInputTokens: usage?.input_token_details?.cache_read,
    finishReason: textAt(facts, finishReason),
    refusal: refusalOf?.(facts),
  };
}

function textAt(facts: Record<string, unknown>, key: string): string | undefined {
  const value = Object.hasOwn(facts, key) ? facts[key] : undefined;
  return typeof value === "string" && value !== "" ? value : undefined;
}
