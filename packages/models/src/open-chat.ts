import type { AIMessageChunk, BaseMessageLike } from "@langchain/core/messages";
import { z } from "zod";
import type { Chat, ChatChunk } from "./chat.ts";
import type { SentMessage } from "./drafter.ts";
import { ModelKeyMissingError } from "./model-errors.ts";
import type { ModelSetting, ModelSettings } from "./model-setting.ts";
import { ANSWER_SCHEMA } from "./prompts/answer-schema.ts";

type NamedModel = Extract<ModelSetting, { kind: "model" }>;

/** A server with its own base URL may need no key; LangChain wants one all the same. */
const NO_KEY = "none";

/** The key of the model's provider. @throws {ModelKeyMissingError} */
export function keyOf(setting: NamedModel, settings: ModelSettings): string {
  const { name } = setting;
  if (setting.provider === "openai") {
    if (settings.OPENAI_API_KEY === undefined && settings.OPENAI_BASE_URL === undefined) {
      throw new ModelKeyMissingError({ model: name, variable: "OPENAI_API_KEY" });
    }
    return settings.OPENAI_API_KEY ?? NO_KEY;
  }
  if (settings.ANTHROPIC_API_KEY === undefined) {
    throw new ModelKeyMissingError({ model: name, variable: "ANTHROPIC_API_KEY" });
  }
  return settings.ANTHROPIC_API_KEY;
}

/** Loads the provider's library, which takes about half a second, and connects nothing yet. */
export async function openChat(setting: NamedModel, settings: ModelSettings): Promise<Chat> {
  return setting.provider === "openai" ? openOpenAi(setting, settings) : openAnthropic(setting, settings);
}

async function openOpenAi(setting: NamedModel, settings: ModelSettings): Promise<Chat> {
  const { ChatOpenAI } = await import("@langchain/openai");
  const model = new ChatOpenAI({
    model: setting.model,
    apiKey: keyOf(setting, settings),
    maxRetries: settings.MODEL_MAX_RETRIES,
    timeout: settings.MODEL_TIMEOUT_MS,
    maxTokens: settings.MODEL_MAX_OUTPUT_TOKENS,
    useResponsesApi: false,
    // The library drops `delta.refusal`; the raw chunk has it.
    __includeRawResponse: true,
    ...(settings.OPENAI_BASE_URL === undefined
      ? {}
      : { configuration: { baseURL: settings.OPENAI_BASE_URL } }),
  });
  const structured = model.withConfig({
    response_format: {
      type: "json_schema",
      json_schema: { name: "plan", schema: ANSWER_SCHEMA, strict: true },
    },
  });
  return {
    hasStructuredOutput: true,
    stream: (messages, { signal, isStructured }) =>
      chunksOf((isStructured ? structured : model).stream(toMessages(messages), { signal })),
  };
}

async function openAnthropic(setting: NamedModel, settings: ModelSettings): Promise<Chat> {
  const { ChatAnthropic } = await import("@langchain/anthropic");
  const model = new ChatAnthropic({
    model: setting.model,
    apiKey: keyOf(setting, settings),
    maxRetries: settings.MODEL_MAX_RETRIES,
    maxTokens: settings.MODEL_MAX_OUTPUT_TOKENS,
    clientOptions: { timeout: settings.MODEL_TIMEOUT_MS },
    ...(settings.ANTHROPIC_BASE_URL === undefined ? {} : { anthropicApiUrl: settings.ANTHROPIC_BASE_URL }),
  });
  return {
    hasStructuredOutput: false,
    stream: (messages, { signal }) => chunksOf(model.stream(toMessages(messages), { signal })),
  };
}

const toMessages = (messages: readonly SentMessage[]): BaseMessageLike[] =>
  messages.map(({ role, content }) => ({ role, content }));

async function* chunksOf(stream: Promise<AsyncIterable<AIMessageChunk>>): AsyncIterable<ChatChunk> {
  for await (const chunk of await stream) yield toChunk(chunk);
}

/** The part of an OpenAI chunk that holds a refusal. */
const RawChunkSchema = z.object({
  choices: z.array(z.object({ delta: z.object({ refusal: z.string().nullish() }) })),
});

const UsageSchema = z.object({
  input_tokens: z.number().int().min(0),
  output_tokens: z.number().int().min(0),
});

function toChunk(chunk: AIMessageChunk): ChatChunk {
  const facts = { ...chunk.additional_kwargs, ...chunk.response_metadata };
  const usage = UsageSchema.safeParse(chunk.usage_metadata).data;
  return {
    text: chunk.text,
    inputTokens: usage?.input_tokens,
    outputTokens: usage?.output_tokens,
    finishReason: textAt(facts, "finish_reason") ?? textAt(facts, "stop_reason"),
    refusal: RawChunkSchema.safeParse(facts["__raw_response"]).data?.choices[0]?.delta.refusal ?? undefined,
  };
}

function textAt(facts: Record<string, unknown>, key: string): string | undefined {
  const value = Object.hasOwn(facts, key) ? facts[key] : undefined;
  return typeof value === "string" && value !== "" ? value : undefined;
}
