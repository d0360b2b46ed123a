import { z } from "zod";
import type { AnswerSchema } from "../draft/drafter.ts";
import { type Chat, type ChatOptions, chunksOf, type OpenOptions, toMessages } from "./chat.ts";
import { createCheckedFetch } from "./checked-fetch.ts";

/** How a server's variant of the protocol differs from OpenAI's. */
export interface ProtocolDifferences {
  /** False for a server that refuses `stream_options` and sends the usage without it. Default: true. */
  asksForUsage?: boolean;
  /** Converts answers to the form that the library reads. Default: no conversion. */
  translate?: (fetchApi: typeof fetch) => typeof fetch;
}

/** OpenAI's chat-completions protocol, which many servers speak. */
export async function openChatCompletions(
  { model: modelName, name, apiKey, baseUrl, baseUrlVariable, timeoutMs, maxOutputTokens }: OpenOptions,
  { asksForUsage = true, translate }: ProtocolDifferences = {},
): Promise<Chat> {
  const { ChatOpenAI } = await import("@langchain/openai");
  const checkedFetch = createCheckedFetch({
    model: name,
    variable: baseUrlVariable,
    answerFields: ["choices", "error"],
  });
  const model = new ChatOpenAI({
    model: modelName,
    apiKey,
    maxRetries: 0,
    timeout: timeoutMs,
    maxTokens: maxOutputTokens,
    streamUsage: asksForUsage,
    useResponsesApi: false,
    // The library drops `delta.refusal`; the raw chunk has it.
    __includeRawResponse: true,
    configuration: {
      fetch: translate ? translate(checkedFetch) : checkedFetch,
      baseURL: baseUrl,
    },
  });
  return {
    forms: ["json-schema", "tool-call", "text"],
    takesTools: true,
    stream: (messages, { signal, ...asked }) =>
      chunksOf(model.withConfig(optionsOf(asked)).stream(toMessages(messages), { signal }), {
        finishReason: "finish_reason",
        refusalOf,
      }),
  };
}

/** The part of a chunk that contains a refusal. */
const RawChunkSchema = z.object({
  choices: z.array(z.object({ delta: z.object({ refusal: z.string().nullish() }) })),
});

const refusalOf = (fields: Record<string, unknown>) =>
  RawChunkSchema.safeParse(fields["__raw_response"]).data?.choices[0]?.delta.refusal ?? undefined;

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
