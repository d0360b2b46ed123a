import type { AIMessageChunk, BaseMessageLike } from "@langchain/core/messages";
import { z } from "zod";
import type { SentMessage } from "../draft/sent-message.ts";
import type { ChatChunk } from "./chat.ts";

/** Messages in LangChain's form. */
export const toMessages = (messages: readonly SentMessage[]): BaseMessageLike[] =>
  messages.map(({ role, content }) => ({ role, content }));

/** The fields in which a provider's library puts data that LangChain has no field for. */
export interface ChunkFields {
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
