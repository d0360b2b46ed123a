import type { AnswerSchema } from "../draft/drafter.ts";
import { type Chat, type ChatOptions, chunksOf, type OpenOptions, toMessages } from "./chat.ts";
import { createCheckedFetch } from "./checked-fetch.ts";

/** Anthropic's messages protocol. */
export async function openMessages(options: OpenOptions): Promise<Chat> {
  const { ChatAnthropic } = await import("@langchain/anthropic");
  const { name, baseUrl, baseUrlVariable } = options;
  const model = new ChatAnthropic({
    model: options.model,
    apiKey: options.apiKey,
    maxRetries: 0,
    maxTokens: options.maxOutputTokens,
    clientOptions: {
      timeout: options.timeoutMs,
      fetch: createCheckedFetch({
        model: name,
        variable: baseUrlVariable,
        answerFields: ["content", "error"],
      }),
    },
    anthropicApiUrl: baseUrl,
  });
  return {
    forms: ["json-schema", "tool-call", "text"],
    takesTools: true,
    stream: (messages, { signal, ...asked }) =>
      chunksOf(model.withConfig(optionsOf(asked)).stream(toMessages(messages), { signal }), {
        finishReason: "stop_reason",
      }),
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
