import type { AnswerForm, Chat, ChatChunk } from "../../chat/chat.ts";
import { createCheckedFetch } from "../../chat/checked-fetch.ts";
import { chunksOf, toMessages } from "../../chat/chunks.ts";
import type { OpenOptions } from "../../chat/provider-definition.ts";
import type { AnswerSchema } from "../../draft/asked.ts";

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
    // The library's own client takes credentials from the environment too, and knows no other server than
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
    // Its subset of JSON Schema refuses what tools of others use.
    takesTools: false,
    stream: (messages, { signal, form, schema }) =>
      orBlocked(
        chunksOf(model.withConfig(optionsOf(form, schema)).stream(toMessages(messages), { signal }), {
          finishReason: "finishReason",
        }),
      ),
  };
}

/** The same path and query below another server's address. */
function rebase(url: string, baseUrl: string): string {
  const { pathname, search } = new URL(url);
  return `${baseUrl.replace(/\/+$/, "")}${pathname}${search}`;
}

const optionsOf = (form: AnswerForm, answer: AnswerSchema | undefined) =>
  answer && form === "json-schema" ? { responseSchema: answer.schema } : {};

/**
 * A prompt that Google blocks is answered by a stream without any candidate, and the library then gives
 * nothing at all.
 */
async function* orBlocked(chunks: AsyncIterable<ChatChunk>): AsyncIterable<ChatChunk> {
  let isEmpty = true;
  for await (const chunk of chunks) {
    isEmpty = false;
    yield chunk;
  }
  if (isEmpty) yield { text: "", toolArguments: "", finishReason: "BLOCKED_PROMPT" };
}
