import type { ProviderDefinition } from "./chat.ts";

/**
 * Mistral AI, with its variant of the chat-completions protocol: usage comes without a request, and unknown
 * fields such as `stream_options` are refused with 422. `@langchain/mistralai` 1.2.0 is not used: it passes
 * no signal to the connection, so a call continues after its time limit, and it drops the count of cached
 * tokens.
 */
export const mistral: ProviderDefinition = {
  home: "https://api.mistral.ai/v1",
  needs: "key",
  traceName: "mistral_ai",
  testProtocol: "mistral",
  endings: { model_length: "MODEL_ANSWER_TRUNCATED" },
  reasons: {},
  // The prices are not known for certain; name them in the file of MODEL_PRICES_FILE.
  prices: {},
  open: async (options) => {
    const { openChatCompletions } = await import("./chat-completions.ts");
    return openChatCompletions(options, { asksForUsage: false, translate: wrapErrors });
  },
};

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
