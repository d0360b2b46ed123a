import type { AnswerSchema } from "../draft/asked.ts";
import type { ModelSettings, NamedModel } from "../settings/model-setting.ts";
import type { AnswerForm, Chat, ChatChunk } from "./chat.ts";
import { createCheckedFetch } from "./checked-fetch.ts";
import { PROVIDERS } from "./provider.ts";
import { accessOf } from "./provider-access.ts";
import { chunksOf, toMessages } from "./to-chunk.ts";

const KEY_HEADER = "x-goog-api-key";

/** Google's Gemini protocol (Generative Language API). Loads the library, connects nothing yet. */
export async function openGoogle(named: NamedModel, settings: ModelSettings): Promise<Chat> {
  const { ChatGoogle } = await import("@langchain/google");
  const { apiKey, baseUrl } = accessOf(named.provider, settings);
  const checkedFetch = createCheckedFetch({
    model: named.name,
    variable: PROVIDERS[named.provider].baseUrl,
  });
  const model = new ChatGoogle({
    model: named.model,
    apiKey,
    platformType: "gai",
    maxRetries: 0,
    maxOutputTokens: settings.MODEL_MAX_OUTPUT_TOKENS,
    // The library's own client takes credentials from the environment too, and knows no other server than Google's.
    apiClient: {
      hasApiKey: () => true,
      getProjectId: async () => "",
      fetch: async (request) => {
        const sent = baseUrl === undefined ? request : new Request(rebase(request.url, baseUrl), request);
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
      orBlocked(chunksOf(model.withConfig(optionsOf(form, schema)).stream(toMessages(messages), { signal }))),
  };
}

/** The same path and query below another server's address. */
function rebase(url: string, baseUrl: string): string {
  const { pathname, search } = new URL(url);
  return `${baseUrl.replace(/\/+$/, "")}${pathname}${search}`;
}

const optionsOf = (form: AnswerForm, answer: AnswerSchema | undefined) =>
  answer && form === "json-schema" ? { responseSchema: answer.schema } : {};

/** A prompt that Google blocks is answered by a stream without any candidate, and the library then gives nothing at all. */
async function* orBlocked(chunks: AsyncIterable<ChatChunk>): AsyncIterable<ChatChunk> {
  let isEmpty = true;
  for await (const chunk of chunks) {
    isEmpty = false;
    yield chunk;
  }
  if (isEmpty) yield { text: "", toolArguments: "", finishReason: "BLOCKED_PROMPT" };
}
