/** The protocols of providers, each with its library, which is loaded when a model is opened. */
import { z } from "zod";
import type { AnswerSchema } from "../draft/drafter.ts";
import {
  type AnswerForm,
  type Chat,
  type ChatChunk,
  type ChatOptions,
  chunksOf,
  type OpenOptions,
  toMessages,
} from "./chat.ts";
import { createCheckedFetch } from "./checked-fetch.ts";

/** How a server's variant of the protocol differs from OpenAI's. */
interface ProtocolDifferences {
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
      chunksOf(model.withConfig(completionOptions(asked)).stream(toMessages(messages), { signal }), {
        finishReason: "finish_reason",
        refusalOf,
      }),
  };
}

/** Mistral's variant of it: no `stream_options`, and flat errors. */
export const openMistralCompletions = (options: OpenOptions): Promise<Chat> =>
  openChatCompletions(options, { asksForUsage: false, translate: wrapErrors });

/** The part of a chunk that contains a refusal. */
const RawChunkSchema = z.object({
  choices: z.array(z.object({ delta: z.object({ refusal: z.string().nullish() }) })),
});

const refusalOf = (fields: Record<string, unknown>) =>
  RawChunkSchema.safeParse(fields["__raw_response"]).data?.choices[0]?.delta.refusal ?? undefined;

function completionOptions({ form, schema: answer, tools }: Omit<ChatOptions, "signal">) {
  if (tools) return { tools: tools.map(toFunction) };
  if (!answer || form === "text") return {};
  const { name, schema } = answer;
  if (form === "json-schema") {
    return {
      response_format: { type: "json_schema" as const, json_schema: { name, schema, strict: true } },
    };
  }
  return { tools: [toFunction(answer)], tool_choice: { type: "function" as const, function: { name } } };
}

const toFunction = ({ name, description, schema: parameters }: AnswerSchema) => ({
  type: "function" as const,
  function: { name, description, parameters },
});

/**
 * `fetch` for a server whose errors are flat, `{"object": "error", "message": ...}`. OpenAI's library reads
 * only `{"error": {...}}` and would lose the message, which says which part of a request is refused. The body
 * becomes that message; successful answers are not changed.
 */
function wrapErrors(fetchApi: typeof fetch): typeof fetch {
  return async (input, init) => {
    const response = await fetchApi(input, init);
    if (response.ok) return response;
    const text = await response.text();
    const { status, statusText } = response;
    const headers = new Headers(response.headers);
    headers.delete("content-length");
    headers.delete("content-encoding");
    return new Response(JSON.stringify({ error: { message: text.slice(0, MAX_MESSAGE) } }), {
      status,
      statusText,
      headers,
    });
  };
}

/** Characters of an error's body that are kept. */
const MAX_MESSAGE = 2_000;

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
      chunksOf(model.withConfig(messageOptions(asked)).stream(toMessages(messages), { signal }), {
        finishReason: "stop_reason",
      }),
  };
}

function messageOptions({ form, schema: answer, tools }: Omit<ChatOptions, "signal">) {
  if (tools) return { tools: tools.map(toAnthropicTool) };
  if (!answer || form === "text") return {};
  if (form === "json-schema") {
    return { outputConfig: { format: { type: "json_schema" as const, schema: answer.schema } } };
  }
  return { tools: [toAnthropicTool(answer)], tool_choice: { type: "tool" as const, name: answer.name } };
}

const toAnthropicTool = ({ name, description, schema }: AnswerSchema) => ({
  name,
  description,
  input_schema: { ...schema, type: "object" as const },
});

/** Google's Gemini protocol (Generative Language API). */
export async function openGenerateContent(options: OpenOptions): Promise<Chat> {
  const { ChatGoogle } = await import("@langchain/google");
  const { apiKey, baseUrl } = options;
  const checkedFetch = createCheckedFetch({
    model: options.name,
    variable: options.baseUrlVariable,
    answerFields: ["candidates", "promptFeedback", "error"],
  });
  const model = new ChatGoogle({
    model: options.model,
    apiKey,
    platformType: "gai",
    maxRetries: 0,
    maxOutputTokens: options.maxOutputTokens,
    // The library's client also takes credentials from the environment, and can call no server other than
    // Google's.
    apiClient: {
      hasApiKey: () => true,
      getProjectId: async () => "",
      fetch: async (request) => {
        const sent = new Request(rebase(request.url, baseUrl), request);
        sent.headers.set(KEY_HEADER, apiKey);
        return checkedFetch(sent);
      },
    },
  });
  return {
    forms: ["json-schema", "text"],
    // Google's subset of JSON Schema refuses keywords that tools use.
    takesTools: false,
    stream: (messages, { signal, form, schema }) =>
      orBlocked(
        chunksOf(model.withConfig(contentOptions(form, schema)).stream(toMessages(messages), { signal }), {
          finishReason: "finishReason",
        }),
      ),
  };
}

/** The same path and query at another server's address. */
function rebase(url: string, baseUrl: string): string {
  const { pathname, search } = new URL(url);
  return `${baseUrl.replace(/\/+$/, "")}${pathname}${search}`;
}

const contentOptions = (form: AnswerForm, answer: AnswerSchema | undefined) =>
  answer && form === "json-schema" ? { responseSchema: answer.schema } : {};

/**
 * Adds an end to an empty stream. Google answers a blocked prompt by a stream without candidates, and the
 * library then returns no chunk.
 */
async function* orBlocked(chunks: AsyncIterable<ChatChunk>): AsyncIterable<ChatChunk> {
  let isEmpty = true;
  for await (const chunk of chunks) {
    isEmpty = false;
    yield chunk;
  }
  if (isEmpty) yield { text: "", toolArguments: "", finishReason: "BLOCKED_PROMPT" };
}

const KEY_HEADER = "x-goog-api-key";
