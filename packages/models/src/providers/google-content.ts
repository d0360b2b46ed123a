import type { AnswerSchema } from "../draft/drafter.ts";
import {
  type AnswerForm,
  type Chat,
  type ChatChunk,
  chunksOf,
  type OpenOptions,
  toMessages,
} from "./chat.ts";
import { createCheckedFetch } from "./checked-fetch.ts";

const KEY_HEADER = "x-goog-api-key";

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
        chunksOf(model.withConfig(optionsOf(form, schema)).stream(toMessages(messages), { signal }), {
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

const optionsOf = (form: AnswerForm, answer: AnswerSchema | undefined) =>
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
