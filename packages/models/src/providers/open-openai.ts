import type { AnswerSchema } from "../draft/asked.ts";
import { ModelKeyMissingError } from "../draft/model-errors.ts";
import type { ModelSettings, NamedModel } from "../settings/model-setting.ts";
import type { Chat, ChatOptions } from "./chat.ts";
import { createCheckedFetch } from "./checked-fetch.ts";
import { PROVIDERS } from "./provider.ts";
import { accessOf } from "./provider-access.ts";
import { chunksOf, toMessages } from "./to-chunk.ts";

/** OpenAI, and every server that speaks its chat-completions protocol. Loads the library, connects nothing yet. */
export async function openOpenAi(named: NamedModel, settings: ModelSettings): Promise<Chat> {
  const { ChatOpenAI } = await import("@langchain/openai");
  const { apiKey, baseUrl } = accessOf(named.provider, settings);
  // Never by accident to OpenAI: a key and data meant for another server.
  if (named.provider === "compatible" && baseUrl === undefined) {
    throw new ModelKeyMissingError({ model: named.name, variable: "COMPATIBLE_BASE_URL" });
  }
  const model = new ChatOpenAI({
    model: named.model,
    apiKey,
    maxRetries: 0,
    timeout: settings.MODEL_TIMEOUT_MS,
    maxTokens: settings.MODEL_MAX_OUTPUT_TOKENS,
    useResponsesApi: false,
    // The library drops `delta.refusal`; the raw chunk has it.
    __includeRawResponse: true,
    configuration: {
      fetch: createCheckedFetch({ model: named.name, variable: PROVIDERS[named.provider].baseUrl }),
      ...(baseUrl === undefined ? {} : { baseURL: baseUrl }),
    },
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
  const { name, schema } = answer;
  if (form === "json-schema") {
    return {
      response_format: { type: "json_schema" as const, json_schema: { name, schema, strict: true } },
    };
  }
  return { tools: [toTool(answer)], tool_choice: { type: "function" as const, function: { name } } };
}

const toTool = ({ name, description, schema: parameters }: AnswerSchema) => ({
  type: "function" as const,
  function: { name, description, parameters },
});
