import type { AnswerSchema } from "../draft/asked.ts";
import type { ModelSettings, NamedModel } from "../settings/model-setting.ts";
import type { Chat, ChatOptions } from "./chat.ts";
import { createCheckedFetch } from "./checked-fetch.ts";
import { PROVIDERS } from "./provider.ts";
import { accessOf } from "./provider-access.ts";
import { chunksOf, toMessages } from "./to-chunk.ts";

/** Anthropic's messages protocol. Loads the library, connects nothing yet. */
export async function openAnthropic(named: NamedModel, settings: ModelSettings): Promise<Chat> {
  const { ChatAnthropic } = await import("@langchain/anthropic");
  const { apiKey, baseUrl } = accessOf(named.provider, settings);
  const model = new ChatAnthropic({
    model: named.model,
    apiKey,
    maxRetries: 0,
    maxTokens: settings.MODEL_MAX_OUTPUT_TOKENS,
    clientOptions: {
      timeout: settings.MODEL_TIMEOUT_MS,
      fetch: createCheckedFetch({ model: named.name, variable: PROVIDERS[named.provider].baseUrl }),
    },
    ...(baseUrl === undefined ? {} : { anthropicApiUrl: baseUrl }),
  });
  return {
    forms: ["json-schema", "tool-call", "text"],
    takesTools: true,
    stream: (messages, { signal, ...asked }) =>
      chunksOf(model.withConfig(optionsOf(asked)).stream(toMessages(messages), { signal })),
  };
}

function optionsOf({ form, schema: answer, tools }: Omit<ChatOptions, "signal">) {
  if (tools) return { tools: tools.map(toTool) };
  if (!answer || form === "text") return {};
  if (form === "json-schema") {
    return { outputConfig: { format: { type: "json_schema" as const, schema: answer.schema } } };
  }
  return { tools: [toTool(answer)], tool_choice: { type: "tool" as const, name: answer.name } };
}

const toTool = ({ name, description, schema }: AnswerSchema) => ({
  name,
  description,
  input_schema: { ...schema, type: "object" as const },
});
